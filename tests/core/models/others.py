"""Hugging Face's models built from a `ModelConfig`, and ours given their weights. Nothing is downloaded."""

import re

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    BertModel,
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
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


def rope_type(scaling):
    """Our scaling as they name it. Their NTK grows with the text: s − 1 is ours on a text of twice their limit."""
    if scaling is None:
        return {"rope_type": "default"}
    length = {"original_max_position_embeddings": scaling.original_length}
    match scaling.kind:
        case "interpolation":
            return {"rope_type": "linear", "factor": scaling.factor}
        case "ntk":
            return {"rope_type": "dynamic", "factor": scaling.factor - 1}
        case "yarn":
            return {"rope_type": "yarn", "factor": scaling.factor, **length}
        case "longrope":
            both = {"long_factor": list(scaling.factors), "short_factor": [1.0] * len(scaling.factors)}
            return {"rope_type": "longrope", "factor": scaling.factor, **both, **length}


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
        "rope_parameters": {"rope_theta": c.rope_base, **rope_type(c.rope_scaling)},
        "tie_word_embeddings": c.tied,
        "attn_implementation": "eager",
    }


def llama(c):
    return LlamaForCausalLM(LlamaConfig(**llama_settings(c)))


def mistral(c):
    return MistralForCausalLM(MistralConfig(sliding_window=c.window, **llama_settings(c)))


def mixtral(c):
    return MixtralForCausalLM(
        MixtralConfig(
            sliding_window=c.window,
            num_local_experts=c.n_experts,
            num_experts_per_tok=c.n_chosen,
            experts_implementation="eager",
            **llama_settings(c),
        )
    )


def bert_settings(c):
    return BertConfig(
        vocab_size=c.vocab,
        hidden_size=c.d_model,
        num_hidden_layers=c.encoder_layers,
        num_attention_heads=c.n_heads,
        intermediate_size=c.d_ff,
        max_position_embeddings=c.limit,
        layer_norm_eps=c.norm_eps,
        type_vocab_size=c.segments,
        attn_implementation="eager",
    )


def bert(c):
    return BertModel(bert_settings(c))


def bert_with_heads(c):
    return BertForPreTraining(bert_settings(c))


def bart(c):
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=c.vocab,
            max_position_embeddings=c.limit,
            d_model=c.d_model,
            encoder_layers=c.encoder_layers,
            decoder_layers=c.decoder_layers,
            encoder_attention_heads=c.n_heads,
            decoder_attention_heads=c.n_heads,
            encoder_ffn_dim=c.d_ff,
            decoder_ffn_dim=c.d_ff,
            pad_token_id=1,
            attn_implementation="eager",
        )
    )


def t5(c):
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=c.vocab,
            d_model=c.d_model,
            d_kv=c.d_head,
            d_ff=c.d_ff,
            num_layers=c.encoder_layers,
            num_decoder_layers=c.decoder_layers,
            num_heads=c.n_heads,
            relative_attention_num_buckets=c.buckets,
            relative_attention_max_distance=c.farthest,
            layer_norm_epsilon=c.norm_eps,
            feed_forward_proj=c.activation,
            attn_implementation="eager",
        )
    )


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
NORM = [(r"(norm\w*)\.weight$", r"\1.gamma"), (r"(norm\w*)\.bias$", r"\1.beta")]
NAMES[bert] = [
    (r"^bert\.", ""),
    (r"embeddings\.word_embeddings\.", "side.embeddings.token."),
    (r"embeddings\.position_embeddings\.", "side.embeddings.position."),
    (r"embeddings\.token_type_embeddings\.", "side.embeddings.segment."),
    (r"^embeddings\.LayerNorm", "side.embeddings.norm"),
    (r"encoder\.layer\.", "side.blocks."),
    (r"attention\.self\.(q|k|v)\w+", r"attention.w_\1"),
    (r"attention\.output\.dense", "attention.w_o"),
    (r"attention\.output\.LayerNorm", "norm1"),
    (r"intermediate\.dense", "feed_forward.w1"),
    (r"output\.dense", "feed_forward.w2"),
    (r"output\.LayerNorm", "norm2"),
    (r"pooler\.dense", "pooler"),
    (r"cls\.predictions\.transform\.dense", "heads.transform"),
    (r"cls\.predictions\.transform\.LayerNorm", "heads.norm"),
    (r"cls\.predictions\.bias", "heads.bias"),
    (r"cls\.seq_relationship", "heads.next_sentence"),
    *NORM,
]
NAMES[bert_with_heads] = NAMES[bert]
NAMES[bart] = [
    (r"^model\.", ""),
    (r"embed_tokens\.", "embeddings.token."),
    (r"embed_positions\.", "embeddings.position."),
    (r"layernorm_embedding", "embeddings.norm"),
    (r"layers\.", "blocks."),
    (r"self_attn_layer_norm", "norm1"),
    (r"encoder_attn_layer_norm", "norm_cross"),
    (r"final_layer_norm", "norm2"),
    (r"self_attn\.(q|k|v)_proj", r"attention.w_\1"),
    (r"self_attn\.out_proj", "attention.w_o"),
    (r"encoder_attn\.(q|k|v)_proj", r"cross.w_\1"),
    (r"encoder_attn\.out_proj", "cross.w_o"),
    (r"fc([12])", r"feed_forward.w\1"),
    *NORM,
]
NAMES[t5] = [
    (r"embed_tokens\.", "embeddings.token."),
    (r"block\.0\.layer\.0\.SelfAttention\.relative_attention_bias", "relative.table"),
    (r"block\.", "blocks."),
    (r"layer\.0\.SelfAttention\.(\w)\.", r"attention.w_\1."),
    (r"layer\.1\.EncDecAttention\.(\w)\.", r"cross.w_\1."),
    (r"layer\.\d\.DenseReluDense\.wi", "feed_forward.w1"),
    (r"layer\.\d\.DenseReluDense\.wo", "feed_forward.w2"),
    (r"layer\.0\.layer_norm", "norm1"),
    (r"(decoder\S*)layer\.1\.layer_norm", r"\1norm_cross"),
    (r"layer\.[12]\.layer_norm", "norm2"),
    (r"final_layer_norm", "final_norm"),
    *NORM,
]
NAMES[mistral] = NAMES[llama]
NAMES[mixtral] = [(r"mlp\.gate\.", "feed_forward.router."), *NAMES[llama]]
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
        elif ".mlp.experts." in name:  # Mixtral: all experts in one, gate and up side by side
            kinds = ("w1", "w3") if "gate_up" in name else ("w2",)
            for e, expert in enumerate(value):
                for kind, part in zip(kinds, expert.chunk(len(kinds)), strict=True):
                    yield re.sub(r"mlp\.experts\.\w+", f"feed_forward.experts.{e}.{kind}.weight", name), part
        elif name.endswith("weight") and re.search(r"c_proj|c_fc", name):
            yield name, value.mT
        else:
            yield name, value


def give_weights(ours, theirs, family):
    """Copy every weight of theirs into ours; a name left over on either side is an error."""
    state = {}
    for name, value in one_by_one(theirs, ours.config):
        again = ("lm_head", "cls.predictions.decoder", "shared", "model.shared", "final_logits_bias")
        if ours.config.tied and name.startswith(again):  # the token table under another name, or zeros
            continue
        for pattern, replacement in NAMES[family]:
            name = re.sub(pattern, replacement, name)
        state[name] = value.to(DOUBLE)
    ours.load_state_dict(state, strict=True)
    return ours


def pair(config, family, ours, seed=0):
    """Both models in float64 with the same random numbers."""
    theirs = random_numbers(family(config).double().eval(), seed)
    return give_weights(ours(config).double(), theirs, family), theirs
