"""The registry's entry for the page on cross-attention."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Switch, Text, Whole, of_size

# What the numbers depend on; a pinned state holds these, and not where one looks.
CROSS = (
    Text("src", "我爱学习", limit=200),
    Text("tgt", "I love learning", limit=200),
    Whole("pad", 0, 8, 2),
    Switch("masked", True),
    Whole("dk", 1, 64, 8),
    Whole("seed", 0, 999, 7),
)
MATRICES = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
KINDS = ("pq", "pk", "summed", "hidden", "e", "s", "add", "dot", "kinds_diff")
TWO_MASKS = ("self", "cross", "mistake")
# No setting gives more than 24 target tokens, 24 source tokens with 8 of padding, or 64 components.
SIZES = of_size(24, 64, "q", "output") + of_size(32, 64, "k", "v") + of_size(24, 24, "self")
SIZES += of_size(24, 32, "scores", "scaled", "masked", "weights", "pq", *KINDS[4:], "cross", "mistake")
SIZES += of_size(32, 32, "pk", "summed", "hidden")
EXPERIMENTS = (
    Whole("row", 1, 24, 2),
    Whole("da", 1, 32, 6),
    Choice("add_step", KINDS, "add"),
    Cell("add_cell", KINDS, ("hidden", 2, 1), sizes=SIZES),
    Choice("mask_step", TWO_MASKS, "cross"),
    Cell("mask_cell", TWO_MASKS, ("self", 0, 1), sizes=SIZES),
    Whole("n", 1, 1_000_000, 50),
    Whole("d", 1, 65_536, 512),
    Whole("kernel", 2, 64, 3),
    Whole("near", 1, 100_000, 16),
    Real("gain", 0.2, 3.0, 1.0, step=0.1),
)

PAGE = Page(
    "cross_attention",
    parameters=(
        *CROSS,
        Choice("step", MATRICES, "weights"),
        Cell("cell", MATRICES, ("weights", 1, 2), sizes=SIZES),
        Pinned("a", CROSS),
        *EXPERIMENTS,
    ),
    predictions=("longer_batch", "unmasked", "longer_target", "longer_source"),
    shows=(
        "core.attention.dot_product.attention",
        "core.attention.additive.additive_attention",
        "core.attention.complexity.layer_costs",
        "core.attention.recurrent.recurrent_encoder",
    ),
    needs=("attention", "masks"),
    sources=("bahdanau2015", "sutskever2014", "luong2015", "vaswani2017"),
)
