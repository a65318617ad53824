"""The registry's entry for the page on masks."""

from core.attention.mask_kinds import KINDS
from ui.course.page import Page
from ui.parameters import Cell, Choice, Grid, Pinned, Switch, Text, Whole

MASKS = (
    Choice("text", ("own", "four", "worked"), "own"),
    Text("s", "the animal did not cross the street | the cat sat on the mat | 我爱学习", limit=200),
    Whole("sentence", 1, 4, 2),
    Whole("tokens", 1, 24, 16),
    Choice("mask", KINDS, "window"),
    Choice("also", KINDS[:-1], "padding"),
    Whole("window", 1, 24, 3),
    Switch("two_sided", False),
    Whole("dilation", 1, 8, 2),
    Whole("prefix", 0, 24, 3),
    Whole("globals", 0, 8, 1),
    Whole("randoms", 0, 8, 1),
    Whole("stride", 1, 12, 3),
    Whole("summary", 1, 4, 1),
    Grid("drawn", 24),
    Whole("layers", 1, 12, 2),
    Whole("seed", 0, 999, 7),
)
STEPS = ("scores", "mask", "weights", "reach")
BATCH = ("b1", "b2", "b3", "b4", "p_pad", "p_causal", "p_both", "p_leak", "p_tight")
CONVENTIONS = ("function", "function_negated", "layer", "layer_negated")
EXPERIMENTS = (
    Choice("batch_step", BATCH, "p_leak"),
    Cell("batch_cell", BATCH, ("p_leak", 0, 3), limit=24),
    Whole("hide_row", 1, 4, 2),
    Whole("hide_keep", 0, 4, 0),
    Choice("conv_step", CONVENTIONS, "layer"),
    Cell("conv_cell", CONVENTIONS, ("layer", 5, 1), limit=24),
)
FUNCTIONS = ("causal", "padding", "prefix_lm", "sliding_window", "dilated", "longformer", "bigbird")
FUNCTIONS += ("strided", "fixed", "combine", "reach")

PAGE = Page(
    "masks",
    parameters=(
        *MASKS,
        Choice("step", STEPS, "mask"),
        Cell("cell", STEPS, ("reach", 5, 1), limit=24),
        Switch("draw", False),
        Pinned("a", MASKS),
        *EXPERIMENTS,
    ),
    predictions=("window_layers", "padding_future", "causal_layers", "window_length"),
    shows=(
        "core.attention.mask_kinds.combined_mask",
        *(f"core.attention.masks.{name}" for name in FUNCTIONS),
        "core.attention.receptive.first_layer",
        "core.attention.dot_product.masked_softmax",
    ),
    needs=("attention",),
    sources=("vaswani2017", "raffel2020", "child2019", "beltagy2020", "zaheer2020", "jiang2023"),
)
