"""What the page on positions depends on."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Several, Text, Whole

SCHEMES = ("none", "sinusoidal", "learned", "rope", "alibi")
METHODS = ("interpolation", "ntk", "yarn", "longrope")
MATRICES = ("x", "pe", "lp", "xp", "q", "k", "tq", "tk", "bias", "scores", "weights", "change")
ROTATION = ("r_shift", "r_from", "r_to")
LEARNED = ("l_table", "l_dots", "s_table", "s_dots")
LAYOUTS = ("y_inter", "y_half", "y_forgot", "y_mixed")
SLOPES = ("a_bias", "a_weights")
ORDERS = tuple(f"{kind}_{scheme}" for kind in ("ow", "od") for scheme in SCHEMES)
# What the numbers depend on; a pinned state holds these.
PLACES = (
    Text("s", "the dog bit the man", limit=200),
    Whole("tokens", 1, 24, 5),
    Choice("scheme", SCHEMES, "sinusoidal"),
    Whole("start", 0, 100, 0),
    Whole("head", 1, 8, 1),
    Whole("dk", 2, 32, 8, step=2),
    Choice("mask", ("none", "causal"), "none"),
    Whole("seed", 0, 999, 7),
)
EXPERIMENTS = (
    Choice("curve_d", ("8", "16", "32", "64"), "32"),
    Choice("curve_base", ("100", "1000", "10000", "100000"), "10000"),
    Whole("dim_a", 1, 64, 1),
    Whole("dim_b", 1, 64, 6),
    Whole("dim_c", 1, 64, 13),
    Choice("curve_step", ("heat",), "heat"),
    Cell("curve_cell", ("heat",), ("heat", 3, 4)),
    Choice("rot_d", ("4", "8", "16"), "8"),
    Whole("rot_t", 0, 60, 10),
    Whole("delta", 0, 60, 5),
    Choice("rot_step", ROTATION, "r_shift"),
    Cell("rot_cell", ROTATION, ("r_to", 0, 0)),
    Whole("t_max", 4, 32, 12),
    Whole("want", 2, 32, 16),
    Choice("learn_step", LEARNED, "l_table"),
    Cell("learn_cell", LEARNED, ("l_table", 3, 2)),
    Whole("turn_q", 1, 24, 5),
    Whole("turn_k", 1, 24, 2),
    Choice("turn_base", ("10", "100", "10000", "500000"), "100"),
    Choice("layout_step", LAYOUTS, "y_mixed"),
    Cell("layout_cell", LAYOUTS, ("y_mixed", 2, 1)),
    Whole("heads", 1, 64, 12),
    Whole("slope", 1, 64, 1),
    Choice("alibi_step", SLOPES, "a_bias"),
    Cell("alibi_cell", SLOPES, ("a_bias", 3, 1)),
    Choice("long_d", ("16", "32", "64", "128"), "64"),
    Choice("long_base", ("10000", "500000", "1000000"), "10000"),
    Choice("trained", ("512", "1024", "2048", "4096", "8192"), "2048"),
    Whole("factor", 2, 32, 8),
    Whole("beta_fast", 2, 64, 32),
    Real("beta_slow", 0.5, 1.5, 1.0, step=0.1),
    Choice("long_head", ("even", "fitted"), "even"),
    Several("methods", METHODS, ("interpolation", "ntk", "yarn")),
    Text("factors", "1 1.12 1.51 2.27 3.53 5.3 7.13 8", limit=400),
    Choice("order", ("random", "reverse"), "random"),
    Whole("draw", 0, 999, 1),
    Choice("order_step", ORDERS, "od_sinusoidal"),
    Cell("order_cell", ORDERS, ("od_sinusoidal", 1, 2)),
)
PAGE = Page(
    "positions",
    parameters=(
        *PLACES,
        Choice("step", MATRICES, "weights"),
        Cell("cell", MATRICES, ("weights", 0, 1)),
        Pinned("a", PLACES),
        *EXPERIMENTS,
    ),
    predictions=("twins", "rope_moves", "sinusoids_move", "rope_self", "slopes"),
    shows=(
        "core.block.position_schemes.attend_at",
        "core.block.positions.sinusoidal",
        "core.block.positions.shift_matrix",
        "core.block.positions.similarity_at",
        "core.block.positions.learned",
        "core.block.positions.alibi_bias",
        "core.block.rope.apply_rope",
        "core.block.rope.scores_by_distance",
        "core.block.rope.compare_layouts",
        "core.block.frequencies.position_interpolation",
        "core.block.frequencies.ntk_aware",
        "core.block.frequencies.yarn",
        "core.block.frequencies.longrope",
        "core.block.extrapolation.range_test",
        "core.block.position_order.shuffle_test",
    ),
    needs=("attention",),
    sources=("vaswani2017", "su2021", "press2022", "chen2023", "peng2023", "ding2024"),
)
