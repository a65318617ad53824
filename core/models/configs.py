"""The models of the course, each as a `ModelConfig`, from their papers and the authors' code."""

from dataclasses import replace

from core.models.description import ModelConfig

__all__ = ["PRESETS", "ModelConfig"]

# Vaswani et al. 2017, table 3. Biases as in the paper's equation 2: in the feed-forward layers only.
TRANSFORMER = ModelConfig(
    name="transformer-base",
    year=2017,
    stack="encoder-decoder",
    encoder_layers=6,
    decoder_layers=6,
    d_model=512,
    n_heads=8,
    d_ff=2048,
    vocab=37000,
    positions="sinusoidal",
    scale_embeddings=True,
    norm_place="post",
    final_norm=False,
    dropout=0.1,
    activation="relu",
    attention_bias=False,
    objectives=("translation",),
    sources=("vaswani2017",),
)

GPT1 = ModelConfig(
    name="gpt1",
    year=2018,
    decoder_layers=12,
    d_model=768,
    n_heads=12,
    d_ff=3072,
    vocab=40478,
    limit=512,
    norm_place="post",
    final_norm=False,
    dropout=0.1,
    sources=("radford2018",),
)

GPT2 = replace(
    GPT1,
    name="gpt2-small",
    year=2019,
    vocab=50257,
    limit=1024,
    norm_place="pre",
    final_norm=True,
    sources=("radford2019",),
)

# Brown et al. 2020, table 2.1. Section 2.1: dense and locally banded layers in turn; parameters do not depend on it.
GPT3 = replace(
    GPT2,
    name="gpt3",
    year=2020,
    decoder_layers=96,
    d_model=12288,
    n_heads=96,
    d_ff=49152,
    limit=2048,
    banded=True,
    sources=("brown2020",),
)

BERT = ModelConfig(
    name="bert-base",
    year=2018,
    stack="encoder",
    encoder_layers=12,
    d_model=768,
    n_heads=12,
    d_ff=3072,
    vocab=30522,
    limit=512,
    segments=2,
    embedding_norm=True,
    norm_place="post",
    norm_eps=1e-12,
    final_norm=False,
    dropout=0.1,
    activation="gelu",
    pooler=True,
    objectives=("mlm", "nsp"),
    sources=("devlin2019",),
)

BART = ModelConfig(
    name="bart-base",
    year=2019,
    stack="encoder-decoder",
    encoder_layers=6,
    decoder_layers=6,
    d_model=768,
    n_heads=12,
    d_ff=3072,
    vocab=50265,
    limit=1024,
    unused_rows=2,
    embedding_norm=True,
    norm_place="post",
    final_norm=False,
    dropout=0.1,
    activation="gelu",
    objectives=("denoising",),
    sources=("lewis2020",),
)

# Raffel et al. 2020: the original T5, not v1.1. Positions live in the scores alone, which are not scaled.
T5 = ModelConfig(
    name="t5-base",
    year=2019,
    stack="encoder-decoder",
    encoder_layers=12,
    decoder_layers=12,
    d_model=768,
    n_heads=12,
    d_ff=3072,
    vocab=32128,
    positions="relative_bias",
    limit=512,
    norm_kind="rms",
    norm_eps=1e-6,
    dropout=0.1,
    activation="relu",
    attention_bias=False,
    ffn_bias=False,
    scale_scores=False,
    scale_logits=True,
    objectives=("span_corruption",),
    sources=("raffel2020",),
)

# Le Scao et al. 2022, table 3. BLOOM is here for ALiBi, and for its norm after the embeddings.
BLOOM = ModelConfig(
    name="bloom-560m",
    year=2022,
    decoder_layers=24,
    d_model=1024,
    n_heads=16,
    d_ff=4096,
    vocab=250880,
    positions="alibi",
    limit=2048,
    embedding_norm=True,
    sources=("scao2022",),
)

LLAMA = ModelConfig(
    name="llama-7b",
    year=2023,
    decoder_layers=32,
    d_model=4096,
    n_heads=32,
    d_ff=11008,
    vocab=32000,
    positions="rope",
    limit=2048,
    norm_kind="rms",
    norm_eps=1e-6,
    activation="silu",
    gated=True,
    attention_bias=False,
    ffn_bias=False,
    tied=False,
    sources=("touvron2023llama",),
)
LLAMA2 = replace(LLAMA, name="llama2-7b", limit=4096, norm_eps=1e-5, sources=("touvron2023",))
LLAMA3 = replace(
    LLAMA2,
    name="llama3-8b",
    year=2024,
    n_kv_heads=8,
    d_ff=14336,
    vocab=128256,
    limit=8192,
    rope_base=500000.0,
    sources=("grattafiori2024",),
)
MISTRAL = replace(
    LLAMA2,
    name="mistral-7b",
    n_kv_heads=8,
    d_ff=14336,
    limit=8192,
    window=4096,
    sources=("jiang2023",),
)

MODELS = (
    TRANSFORMER,
    replace(TRANSFORMER, name="transformer-big", d_model=1024, n_heads=16, d_ff=4096, dropout=0.3),
    GPT1,
    GPT2,
    replace(GPT2, name="gpt2-medium", decoder_layers=24, d_model=1024, n_heads=16, d_ff=4096),
    replace(GPT2, name="gpt2-large", decoder_layers=36, d_model=1280, n_heads=20, d_ff=5120),
    replace(GPT2, name="gpt2-xl", decoder_layers=48, d_model=1600, n_heads=25, d_ff=6400),
    GPT3,
    BERT,
    replace(BERT, name="bert-large", encoder_layers=24, d_model=1024, n_heads=16, d_ff=4096),
    replace(
        BERT,
        name="minilm-l6",
        year=2021,
        encoder_layers=6,
        d_model=384,
        d_ff=1536,
        sources=("wang2020minilm",),
    ),
    BART,
    replace(
        BART, name="bart-large", encoder_layers=12, decoder_layers=12, d_model=1024, n_heads=16, d_ff=4096
    ),
    replace(T5, name="t5-small", encoder_layers=6, decoder_layers=6, d_model=512, n_heads=8, d_ff=2048),
    T5,
    BLOOM,
    LLAMA,
    LLAMA2,
    replace(
        LLAMA2,
        name="llama2-70b",
        decoder_layers=80,
        d_model=8192,
        n_heads=64,
        n_kv_heads=8,
        d_ff=28672,
    ),
    LLAMA3,
    MISTRAL,
    replace(
        MISTRAL,
        name="mixtral-8x7b",
        limit=32768,
        window=None,
        rope_base=1e6,
        n_experts=8,
        n_chosen=2,
        sources=("jiang2024",),
    ),
    replace(
        LLAMA2,
        name="smollm2-135m",
        year=2024,
        decoder_layers=30,
        d_model=576,
        n_heads=9,
        n_kv_heads=3,
        d_ff=1536,
        vocab=49152,
        limit=8192,
        rope_base=1e5,
        tied=True,
        sources=("allal2025",),
    ),
)
PRESETS: dict[str, ModelConfig] = {model.name: model for model in MODELS}
