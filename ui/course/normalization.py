"""The registry's entry for the page on normalisation."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Text, Whole

# What the numbers depend on; a pinned state holds these, and not where one looks.
NORMS = (
    Text("s", "the cat sat up | 我爱学习", limit=200),
    Whole("tokens", 1, 24, 8),
    Whole("d", 1, 12, 4),
    Real("shift", -5.0, 5.0, 1.0, step=0.5),
    Real("scale", 0.0, 5.0, 1.0, step=0.1),
    Whole("outlier", -50, 50, 10),
    Whole("row", 1, 24, 2),
    Whole("col", 1, 12, 3),
    Real("gamma", 0.0, 3.0, 1.0, step=0.1),
    Real("beta", -3.0, 3.0, 0.0, step=0.1),
    Choice("eps", ("1e-12", "1e-6", "1e-5", "1e-3", "0.1", "1"), "1e-5"),
    Whole("seed", 0, 999, 7),
)
STEPS = ("x", "layer", "rms", "batch")
KINDS = STEPS[1:]
READS = tuple(f"reads_{kind}" for kind in KINDS)
MOVES = tuple(f"moved_{kind}" for kind in KINDS)
RUNNING = ("training", "inference", "gap")
PADDED = ("pad_x", "pad_layer", "pad_batch", "pad_real")
GRADIENTS = ("g", "grad_layer", "grad_rms", "grad_batch")
EXPERIMENTS = (
    Choice("by", ("token", "feature"), "token"),
    Choice("reads_step", READS, "reads_layer"),
    Cell("reads_cell", READS, ("reads_layer", 1, 2)),
    Choice("who", ("all", "token", "feature"), "token"),
    Real("add", -5.0, 5.0, 3.0, step=0.5),
    Real("times", -3.0, 3.0, 1.0, step=0.5),
    Choice("moved_step", MOVES, "moved_rms"),
    Cell("moved_cell", MOVES, ("moved_batch", 0, 2)),
    Whole("seen", 0, 100, 20),
    Real("momentum", 0.01, 1.0, 0.1, step=0.01),
    Whole("size", 2, 64, 8),
    Choice("run_step", RUNNING, "inference"),
    Cell("run_cell", RUNNING, ("inference", 1, 2)),
    Real("spread", -8.0, 1.0, -2.5, step=0.5),
    Whole("pads", 0, 6, 3),
    Choice("pad_step", PADDED, "pad_batch"),
    Cell("pad_cell", PADDED, ("pad_batch", 0, 2)),
    Choice("grad_step", GRADIENTS, "grad_layer"),
    Cell("grad_cell", GRADIENTS, ("grad_layer", 1, 2)),
)
NORM = "core.block.normalization"

PAGE = Page(
    "normalization",
    parameters=(
        *NORMS,
        Choice("step", STEPS, "layer"),
        Cell("cell", STEPS, ("layer", 1, 2)),
        Pinned("a", NORMS),
        *EXPERIMENTS,
    ),
    predictions=("shift", "outlier", "alone", "scale"),
    shows=(
        *(f"{NORM}.{name}" for name in ("layer_norm", "rms_norm", "batch_norm", "normalize_with", "moments")),
        "core.block.running.running_statistics",
        *(f"core.block.norm_gradients.{name}_backward" for name in ("layer_norm", "rms_norm", "batch_norm")),
    ),
    needs=("linear_maps",),
    sources=("ba2016", "zhang2019", "ioffe2015", "xiong2020", "touvron2023"),
)
