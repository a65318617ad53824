"""What the multi-head page depends on. Every number of heads divides every d_model of the list."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Several, Text, Whole, of_size

MOST_HEADS = 8
NUMBERS = tuple(str(n + 1) for n in range(MOST_HEADS))
MAPS = tuple(f"a{n}" for n in NUMBERS)
OUTPUTS = tuple(f"o{n}" for n in NUMBERS)
JOINED = ("concat", "w_o", "output")
STEPS = MAPS + OUTPUTS + JOINED
SWITCHED = ("before", "after", "change")
TRAPPED = ("right", "wrong", "right_output", "wrong_output")
# No setting gives more than 24 tokens or 96 features.
SIZES = of_size(24, 24, *MAPS, "right") + of_size(24, 2, "wrong") + of_size(96, 96, "w_o")
SIZES += of_size(24, 96, *OUTPUTS, "concat", "output", *SWITCHED, "right_output", "wrong_output")
# What the numbers depend on; a pinned state holds these.
HEADS = (
    Text("s", "the cat sat on the mat", limit=200),
    Whole("tokens", 1, 24, 6),
    Choice("d_model", ("24", "48", "96"), "24"),
    Choice("heads", ("1", "2", "3", "4", "6", "8"), "4"),
    Choice("kv", ("all", "4", "3", "2", "1"), "all"),
    Choice("mask", ("none", "causal"), "causal"),
    Real("tau", 0.1, 4.0, 1.0, step=0.1),
    Several("off", NUMBERS),
    Whole("seed", 0, 999, 7),
)
PARAMETERS = (
    *HEADS,
    Choice("step", STEPS, "a1"),
    Cell("cell", STEPS, ("output", 3, 1), sizes=SIZES),
    Pinned("a", HEADS),
    Choice("off_step", SWITCHED, "change"),
    Cell("off_cell", SWITCHED, ("change", 3, 1), sizes=SIZES),
    Choice("alike_step", ("alike",), "alike"),
    Cell("alike_cell", ("alike",), ("alike", 1, 0), limit=MOST_HEADS),
    Whole("context", 1024, 131072, 8192, step=1024),
    Choice("trap_step", TRAPPED, "wrong"),
    Cell("trap_cell", TRAPPED, ("wrong", 0, 1), sizes=SIZES),
)
PAGE = Page(
    "multi_head",
    parameters=PARAMETERS,
    predictions=("count", "share", "mix"),
    shows=(
        "core.attention.multi_head.MultiHeadAttention",
        "core.attention.heads.head_contributions",
        "core.attention.heads.head_similarity",
        "core.attention.head_sizes.kv_cache_bytes_per_token",
        "core.attention.pytorch_multi_head.batch_first_trap",
    ),
    twins=("core.attention.numpy_twin.multi_head", "core.attention.numpy_twin.multi_head_backward"),
    needs=("attention",),
    sources=("vaswani2017", "shazeer2019", "ainslie2023", "deepseek2024v2"),
)
