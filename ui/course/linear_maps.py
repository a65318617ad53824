"""Linear maps: the page's parameters. Its place in the course is in ui.course.attention."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Real, Text, Whole, of_size

STEPS = ("m", "x", "b", "y")
PRODUCT = ("pa", "pb", "pc")
HEADS = ("x", "w", "flat", "apart", "heads", "wrong")
PLANE = of_size(2, 2, "m") + of_size(2, 3, "x", "y") + of_size(2, 1, "b")
WAY = of_size(6, 16, "x", "flat", "apart") + of_size(16, 16, "w") + of_size(24, 4, "heads", "wrong")
# In steps of a tenth, as are the presets: 3, 4, 5 and 1, 2, √5 give turns, mirrors and shadows without rounding.
MAP = (
    Real("m11", -2.0, 2.0, 1.2, step=0.1),
    Real("m12", -2.0, 2.0, 0.6, step=0.1),
    Real("m21", -2.0, 2.0, -0.4, step=0.1),
    Real("m22", -2.0, 2.0, 1.0, step=0.1),
    # Not on the line of the mirror and the shadow, where the map would leave it as it is.
    Real("u1", -2.0, 2.0, -2.0, step=0.1),
    Real("u2", -2.0, 2.0, 1.0, step=0.1),
    Real("b1", -2.0, 2.0, 0.0, step=0.1),
    Real("b2", -2.0, 2.0, 0.0, step=0.1),
)
SECOND = (
    Real("v1", -2.0, 2.0, 1.0, step=0.1),
    Real("v2", -2.0, 2.0, 1.0, step=0.1),
    Real("k", -2.0, 2.0, 2.0, step=0.1),
)
EXPERIMENTS = (
    Text("shape_a", "3, 4", limit=40),
    Text("shape_b", "4, 2", limit=40),
    Choice("product_step", PRODUCT, "pc"),
    Cell("product_cell", PRODUCT, ("pc", 0, 1), limit=8),
    Choice("qkv", ("q", "k", "v"), "q"),
    Whole("batch", 1, 4, 2),
    Whole("tokens", 1, 6, 3),
    Whole("heads", 1, 4, 2),
    Whole("d_head", 1, 4, 2),
    Whole("sentence", 1, 4, 1),
    Whole("seed", 0, 999, 7),
    Choice("qkv_step", HEADS, "heads"),
    Cell("qkv_cell", HEADS, ("heads", 3, 0), sizes=WAY),
)

PAGE = Page(
    "linear_maps",
    parameters=(
        *MAP,
        Choice("step", STEPS, "y"),
        Cell("cell", STEPS, ("y", 0, 0), sizes=PLANE),
        *SECOND,
        *EXPERIMENTS,
    ),
    predictions=("bias", "double", "shadow", "mirror"),
    shows=(
        "core.attention.linear_maps.worked_map",
        "core.attention.linear_maps.product_shape",
        "core.attention.linear_maps.describe",
        "core.attention.linear_maps.additivity_gap",
        "core.attention.linear_maps.compare",
        "core.attention.shapes.batch_shapes",
    ),
    sources=("vaswani2017",),
)
