"""Hugging Face's models built from a `ModelConfig`, and ours given their weights. Nothing is downloaded."""

import re

import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
)

DOUBLE = torch.float64


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_numbers(model, seed=0):
    """Every number drawn anew, biases and norms included, so that none can be left out unseen."""
    gen = generator(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen, dtype=DOUBLE) * 0.3 + (0.5 if p.dim() == 1 else 0))
    return model


def gpt2(c):
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=c.vocab,
            n_positions=c.limit,
            n_embd=c.d_model,
            n_layer=c.decoder_layers,
            n_head=c.n_heads,
            n_inner=c.d_ff,
            layer_norm_epsilon=c.norm_eps,
            attn_implementation="eager",
        )
    )


def gpt1(c):
    return OpenAIGPTLMHeadModel(
        OpenAIGPTConfig(
            vocab_size=c.vocab,
            n_positions=c.limit,
            n_embd=c.d_model,
            n_layer=c.decoder_layers,
            n_head=c.n_heads,
            layer_norm_epsilon=c.norm_eps,
            attn_implementation="eager",
        )
    )


def bloom(c):
    return BloomForCausalLM(
        BloomConfig(
            vocab_size=c.vocab,
            hidden_size=c.d_model,
            n_layer=c.decoder_layers,
            n_head=c.n_heads,
            layer_norm_epsilon=c.norm_eps,
            attn_implementation="eager",
        )
    )


def llama_settings(c):
    return {
        "vocab_size": c.vocab,
        "hidden_size": c.d_model,
        "intermediate_size": c.d_ff,
        "num_hidden_layers": c.decoder_layers,
        "num_attention_heads": c.n_heads,
        "num_key_value_heads": c.kv_heads,
        "max_position_embeddings": c.limit,
        "rms_norm_eps": c.norm_eps,
        "rope_parameters": {"rope_type": "default", "rope_theta": c.rope_base},
        "tie_word_embeddings": c.tied,
        "attn_implementation": "eager",
    }


def llama(c):
    return LlamaForCausalLM(LlamaConfig(**llama_settings(c)))


def mistral(c):
    return MistralForCausalLM(MistralConfig(sliding_window=c.window, **llama_settings(c)))


NAMES = {  # their names as patterns, and ours
    gpt2: [
        (r"transformer\.wte\.", "embeddings.token."),
        (r"transformer\.wpe\.", "embeddings.position."),
        (r"transformer\.h\.", "blocks."),
        (r"attn\.c_proj", "attention.w_o"),
        (r"mlp\.c_fc", "feed_forward.w1"),
        (r"mlp\.c_proj", "feed_forward.w2"),
        (r"ln_([12])\.weight", r"norm\1.gamma"),
        (r"ln_([12])\.bias", r"norm\1.beta"),
        (r"transformer\.ln_f\.weight", "final_norm.gamma"),
        (r"transformer\.ln_f\.bias", "final_norm.beta"),
    ],
    llama: [
        (r"model\.embed_tokens\.", "embeddings.token."),
        (r"model\.layers\.", "blocks."),
        (r"self_attn\.([qkvo])_proj", r"attention.w_\1"),
        (r"mlp\.gate_proj", "feed_forward.w1"),
        (r"mlp\.up_proj", "feed_forward.w3"),
        (r"mlp\.down_proj", "feed_forward.w2"),
        (r"input_layernorm\.weight", "norm1.gamma"),
        (r"post_attention_layernorm\.weight", "norm2.gamma"),
        (r"model\.norm\.weight", "final_norm.gamma"),
        (r"lm_head", "output"),
    ],
    bloom: [
        (r"transformer\.word_embeddings\.", "embeddings.token."),
        (r"transformer\.word_embeddings_layernorm\.weight", "embeddings.norm.gamma"),
        (r"transformer\.word_embeddings_layernorm\.bias", "embeddings.norm.beta"),
        (r"transformer\.h\.", "blocks."),
        (r"self_attention\.dense", "attention.w_o"),
        (r"mlp\.dense_h_to_4h", "feed_forward.w1"),
        (r"mlp\.dense_4h_to_h", "feed_forward.w2"),
        (r"input_layernorm\.weight", "norm1.gamma"),
        (r"input_layernorm\.bias", "norm1.beta"),
        (r"post_attention_layernorm\.weight", "norm2.gamma"),
        (r"post_attention_layernorm\.bias", "norm2.beta"),
        (r"transformer\.ln_f\.weight", "final_norm.gamma"),
        (r"transformer\.ln_f\.bias", "final_norm.beta"),
    ],
}
NAMES[mistral] = NAMES[llama]
NAMES[gpt1] = [(r"transformer\.(tokens|positions)_embed\.", r"\1."), *NAMES[gpt2]]
NAMES[gpt1] += [(r"^tokens\.", "embeddings.token."), (r"^positions\.", "embeddings.position.")]


def one_by_one(theirs, c):
    """Their weights with q, k and v apart, and [out, in] everywhere."""
    for name, value in theirs.state_dict().items():
        if "attn.c_attn" in name:  # GPT: [in, 3 · out], q then k then v
            for letter, part in zip("qkv", value.chunk(3, -1), strict=True):
                yield (
                    re.sub(r"attn\.c_attn", f"attention.w_{letter}", name),
                    part.mT if part.dim() == 2 else part,
                )
        elif "query_key_value" in name:  # BLOOM: head by head, each with its q, k and v
            parts = value.unflatten(0, (c.n_heads, 3, c.d_head)).unbind(1)
            for letter, part in zip("qkv", parts, strict=True):
                yield (
                    name.replace("self_attention.query_key_value", f"attention.w_{letter}"),
                    part.flatten(0, 1),
                )
        elif name.endswith("weight") and re.search(r"c_proj|c_fc", name):
            yield name, value.mT
        else:
            yield name, value


def give_weights(ours, theirs, family):
    """Copy every weight of theirs into ours; a name left over on either side is an error."""
    state = {}
    for name, value in one_by_one(theirs, ours.config):
        if name.startswith("lm_head") and ours.config.tied:
            continue
        for pattern, replacement in NAMES[family]:
            name = re.sub(pattern, replacement, name)
        state[name] = value.to(DOUBLE)
    ours.load_state_dict(state, strict=True)
    return ours


def pair(config, family, ours):
    """Both models in float64 with the same random numbers."""
    theirs = random_numbers(family(config).double().eval())
    return give_weights(ours(config).double(), theirs, family), theirs
