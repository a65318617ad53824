"""What the page on feed-forward layers and experts depends on."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Switch, Text, Whole

STEPS = ("x", "w1", "b1", "w2", "b2", "before", "hidden", "output")
ACTS = ("relu", "gelu", "gelu_tanh", "silu")
ONE = ("x_after", "ffn_after", "att_after", "x_change", "ffn_change", "att_change")
GRADIENTS = ("g", "x", "w1", "w2", "before", "hidden", "dh", "slope", "dz", "dw2", "dw1", "dx")
GATED = ("x", "glu_w1", "glu_w3", "glu_w2", "glu_before", "gate", "value", "glu_hidden", "glu_output")
EXPERTS = ("x", "router", "logits", "scores", "gates", "load", "mix")
# What the numbers depend on; a pinned state holds these.
LAYER = (
    Text("s", "the cat sat on the mat", limit=200),
    Whole("tokens", 1, 24, 6),
    Choice("d_model", ("2", "4", "8", "16"), "4"),
    Whole("multiple", 1, 4, 4),
    Choice("act", ACTS, "relu"),
    Whole("seed", 0, 999, 7),
)
PARAMETERS = (
    *LAYER,
    Choice("step", STEPS, "hidden"),
    Cell("cell", STEPS, ("hidden", 1, 1)),
    Pinned("a", LAYER),
    Real("z", -4.0, 3.0, -1.0, step=0.1),
    Whole("at", 1, 24, 2),
    Text("word", "dog", limit=40),
    Choice("sight", ("none", "causal"), "none"),
    Choice("one_step", ONE, "ffn_change"),
    Cell("one_cell", ONE, ("ffn_change", 1, 1)),
    Choice("grad", ("one", "ones", "random"), "one"),
    Whole("grad_row", 1, 24, 2),
    Whole("grad_col", 1, 16, 1),
    Whole("draw", 0, 999, 1),
    Choice("grad_step", GRADIENTS, "dz"),
    Cell("grad_cell", GRADIENTS, ("dz", 1, 1)),
    Choice("glu_step", GATED, "glu_hidden"),
    Cell("glu_cell", GATED, ("glu_hidden", 1, 1)),
    Choice("wide", ("512", "768", "1024", "2048", "4096", "5120", "8192"), "4096"),
    Choice("round", ("1", "64", "128", "256"), "256"),
    Choice("experts", ("2", "4", "8", "16"), "8"),
    Whole("k", 1, 8, 2),
    Choice("score", ("softmax", "sigmoid"), "softmax"),
    Switch("shared", False),
    Choice("moe_step", EXPERTS, "gates"),
    Cell("moe_cell", EXPERTS, ("gates", 1, 0)),
    Whole("batch", 1, 60, 60),
    Real("favour", 0.0, 2.0, 1.0, step=0.1),
    Real("speed", 0.0, 0.1, 0.02, step=0.005),
    Real("alpha", 0.0, 2.0, 0.5, step=0.1),
    Whole("own_experts", 1, 64, 16),
    Whole("own_k", 1, 16, 2),
)
PAGE = Page(
    "feed_forward",
    parameters=PARAMETERS,
    predictions=("zeros", "neighbours", "width"),
    shows=(
        "core.block.feed_forward.feed_forward",
        "core.block.feed_forward.feed_forward_backward",
        "core.block.feed_forward.swiglu",
        "core.block.feed_forward.gelu_tanh_derivative",
        "core.block.experts.route",
        "core.block.experts.mixture",
        "core.block.experts.switch_loss",
        "core.block.experts.update_bias",
        "core.block.expert_sizes.count_mixture",
    ),
    needs=("attention",),
    sources=(
        "vaswani2017",
        "hendrycks2016",
        "shazeer2020",
        "shazeer2017",
        "fedus2022",
        "jiang2024",
        "wang2024",
        "deepseek2024v3",
    ),
)
