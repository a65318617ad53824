"""The registry's entry for the page on architectures."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Switch, Text, Whole

MODELS = (
    "transformer-base",
    "gpt1",
    "bert-base",
    "gpt2-small",
    "gpt2-xl",
    "bart-base",
    "t5-base",
    "gpt3",
    "bloom-560m",
    "llama-7b",
    "llama3-8b",
    "mistral-7b",
    "mixtral-8x7b",
    "smollm2-135m",
    "own",
)
PARTS = ("total", "tokens", "positions", "segments", "attention", "ffn", "norms", "head")
OWN = (
    Choice("own_stack", ("decoder", "encoder", "encoder-decoder"), "decoder"),
    Whole("own_layers", 1, 96, 12),
    Whole("own_heads", 1, 128, 12),
    Choice("own_d_head", ("32", "64", "128"), "64"),
    Whole("own_vocab", 1000, 256000, 32000, step=1000),
    Choice("own_norm", ("pre", "post", "none"), "pre"),
    Choice("own_kind", ("layer", "rms"), "rms"),
    Choice("own_positions", ("learned", "sinusoidal", "rope", "alibi", "relative_bias", "none"), "rope"),
    Choice("own_act", ("relu", "gelu", "swiglu"), "swiglu"),
    Choice("own_context", ("512", "1024", "2048", "4096", "8192"), "2048"),
    Switch("own_tied", True),
)
MAPS = ("encoder", "decoder", "prefix", "source", "target", "cross")
EXPERIMENTS = (
    Text("source", "the kitten eats fish , the puppy eats bones .", limit=200),
    Text("target", "小猫吃鱼，小狗吃骨头。", limit=200),
    Whole("prefix", 0, 24, 3),
    Whole("seed", 0, 999, 7),
    Choice("map_step", MAPS, "decoder"),
    Cell("map_cell", MAPS, ("decoder", 2, 1)),
    Choice("goal", ("next", "mlm", "nsp", "spans", "infill"), "mlm"),
    Whole("share", 5, 50, 15, step=5),
)
PAGE = Page(
    "architectures",
    parameters=(
        Choice("left", MODELS, "gpt1"),
        Choice("right", MODELS, "gpt2-small"),
        Choice("part", PARTS, "total"),
        *OWN,
        *EXPERIMENTS,
    ),
    predictions=("grows", "direction", "grouped", "untied"),
    shows=(
        "core.cost.sizes.count_parameters",
        "core.models.families.family_maps",
        "core.models.masked_language.mask_tokens",
        "core.models.masked_language.next_token_targets",
        "core.models.denoising.span_corruption",
        "core.models.denoising.text_infilling",
        "core.models.denoising.next_sentence_pair",
    ),
    needs=("multi_head", "normalization", "positions"),
    sources=(
        "vaswani2017",
        "radford2018",
        "devlin2019",
        "radford2019",
        "lewis2020",
        "raffel2020",
        "brown2020",
        "press2022",
        "scao2022",
        "touvron2023llama",
        "grattafiori2024",
        "jiang2023",
        "jiang2024",
        "allal2025",
    ),
)
