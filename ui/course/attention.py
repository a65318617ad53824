"""Attention: from the matrix product to cross-attention."""

from ui.course import cross_attention, linear_maps, masks, multi_head
from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Switch, Text, Whole, of_size

STEPS = ("scores", "scaled", "masked", "weights", "output")
INPUTS = ("x", "q", "k", "v")
# What the numbers depend on; a pinned state holds these, and not where one looks.
ATTENTION = (
    Text("s", "the cat sat on the mat", limit=200),
    Whole("tokens", 1, 24, 6),
    Whole("dk", 1, 64, 8),
    Real("tau", 0.1, 4.0, 1.0, step=0.1),
    Switch("scaled", True),
    Choice("mask", ("none", "causal", "padding", "window"), "causal"),
    Whole("window", 1, 24, 3),
    Whole("pad", 0, 24, 2),
    Whole("seed", 0, 999, 7),
)
GRADIENTS = ("g", "weights", "v", "k", "q", "dv", "da", "jac", "ds", "dq", "dk")
ORDERS = ("o_before", "o_after", "o_back", "o_diff", "w_before", "w_after", "w_back", "w_diff")
DROPOUTS = ("weights", "factors", "after")
# No setting gives more than 24 tokens, 64 components or 32 features of an embedding.
PAIRS = ("scores", "scaled", "masked", "weights", "da", "jac", "ds", "factors", "after", *ORDERS[4:])
VECTORS = ("q", "k", "v", "output", "g", "dv", "dq", "dk", *ORDERS[:4])
SIZES = of_size(24, 24, *PAIRS) + of_size(24, 64, *VECTORS) + of_size(24, 32, "x")
EXPERIMENTS = (
    Whole("draw", 0, 999, 1),
    Whole("sat_draws", 20, 200, 100, step=20),
    Whole("sat_keys", 2, 32, 16),
    Choice("grad", ("target", "one", "ones", "random"), "target"),
    Whole("grad_row", 1, 24, 4),
    Whole("grad_col", 1, 64, 1),
    Choice("grad_step", GRADIENTS, "ds"),
    Cell("grad_cell", GRADIENTS, ("ds", 3, 2), sizes=SIZES),
    Choice("order", ("random", "reverse", "own"), "random"),
    Text("order_own", "2 1", limit=120),
    Choice("order_step", ORDERS, "w_after"),
    Cell("order_cell", ORDERS, ("w_after", 3, 1), sizes=SIZES),
    Real("drop_p", 0.0, 0.8, 0.5, step=0.1),
    Choice("drop_step", DROPOUTS, "after"),
    Cell("drop_cell", DROPOUTS, ("after", 3, 1), sizes=SIZES),
    Whole("row_a", 1, 24, 3),
    Whole("row_b", 1, 24, 6),
)

PAGES = (
    linear_maps.PAGE,
    Page(
        "attention",
        parameters=(
            *ATTENTION,
            Choice("step", INPUTS + STEPS, "weights"),
            Cell("cell", INPUTS + STEPS, ("weights", 3, 1), sizes=SIZES),
            Pinned("a", ATTENTION),
            *EXPERIMENTS,
        ),
        predictions=("scaling", "width", "temperature", "first_row", "twins", "twins_causal"),
        shows=("core.attention.dot_product.attention",),
        twins=("core.attention.numpy_twin.attention", "core.attention.numpy_twin.attention_backward"),
        needs=("linear_maps",),
        sources=("vaswani2017", "bahdanau2015"),
    ),
    masks.PAGE,
    multi_head.PAGE,
    cross_attention.PAGE,
)
