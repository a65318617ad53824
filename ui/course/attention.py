"""Attention: from the matrix product to cross-attention."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Real, Switch, Text, Whole

STEPS = ("scores", "scaled", "masked", "weights", "output")
INPUTS = ("x", "q", "k", "v")

PAGES = (
    Page("linear_maps"),
    Page(
        "attention",
        parameters=(
            Text("s", "the cat sat on the mat", limit=200),
            Whole("tokens", 1, 24, 6),
            Whole("dk", 1, 64, 8),
            Real("tau", 0.1, 4.0, 1.0, step=0.1),
            Switch("scaled", True),
            Choice("mask", ("none", "causal", "padding", "window"), "causal"),
            Whole("window", 1, 24, 3),
            Whole("pad", 0, 24, 2),
            Whole("seed", 0, 999, 7),
            Choice("step", STEPS, "weights"),
            Cell("cell", INPUTS + STEPS, ("weights", 3, 1)),
        ),
        shows=("core.attention.dot_product.attention",),
        needs=("linear_maps",),
        sources=("vaswani2017", "bahdanau2015"),
    ),
    Page("masks", needs=("attention",)),
    Page("multi_head", needs=("attention",)),
    Page("cross_attention", needs=("multi_head",)),
)
