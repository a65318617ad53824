"""The registry's entry for the page on residual and depth."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Real, Switch, Whole

NORMS = ("pre", "post", "none")
SCHEMES = ("fan_in", "he", "xavier", "gpt2")
QUANTITIES = ("norm", "gradient", "similarity")
COSINES = ("cos_a", "cos_b")
DROPOUT = ("inference", "draw", "mean")

PAGE = Page(
    "residual",
    parameters=(
        Choice("norm_a", NORMS, "pre"),
        Switch("res_a", True),
        Choice("init_a", SCHEMES, "fan_in"),
        Choice("norm_b", NORMS, "post"),
        Switch("res_b", True),
        Choice("init_b", SCHEMES, "fan_in"),
        Whole("layers", 1, 48, 24),
        Choice("width", ("16", "32", "64", "128"), "64"),
        Whole("seed", 0, 999, 0),
        Choice("step", QUANTITIES, "gradient"),
        Cell("cell", QUANTITIES, ("gradient", 1, 0)),
        Whole("layer", 0, 48, 12),
        Choice("alike_step", COSINES, "cos_b"),
        Cell("alike_cell", COSINES, ("cos_b", 20, 3)),
        Choice("scheme_of", ("a", "b"), "a"),
        Real("p", 0.0, 0.9, 0.1, step=0.05),
        Whole("draws", 1, 1000, 20),
        Choice("drop_step", DROPOUT, "draw"),
        Cell("drop_cell", DROPOUT, ("draw", 5, 2)),
    ),
    predictions=("no_residual", "deeper", "alike", "neither"),
    shows=(
        "core.block.residual.sublayer",
        "core.block.depth.depth_experiment",
        "core.block.depth.mean_cosine",
        "core.block.initialisation.deviation",
        "core.block.dropout.many_draws",
    ),
    needs=("multi_head", "feed_forward", "normalization"),
    sources=(
        "he2016",
        "vaswani2017",
        "radford2019",
        "xiong2020",
        "dong2021",
        "noci2022",
        "glorot2010",
        "he2015",
        "srivastava2014",
    ),
)
