"""The registry's entry for the page on training."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Parameter, Switch, Whole, of_size

SIDES = ("a", "b")
TASKS = ("chinese", "english", "both", "repeat", "repeat-fixed", "reverse", "translate")
RATES = ("0.0003", "0.001", "0.002", "0.003", "0.004", "0.008", "0.02", "0.05", "0.2")
RECORDS = 20  # looks at the model in a run, besides the one after its first step
VIEWS = ("curves", "maps")
MAPS = ("map_a", "map_b")
GRADIENTS = ("grad_a", "grad_b")


def of_side(side: str, warm: int) -> tuple[Parameter, ...]:
    """What each run has for itself."""
    return (
        Whole(f"layers_{side}", 1, 24, 12),
        Choice(f"norm_{side}", ("pre", "post", "none"), "post"),
        Switch(f"res_{side}", True),
        Choice(f"rate_{side}", RATES, "0.003"),
        Whole(f"warm_{side}", 0, 400, warm, step=10),
        Choice(f"plan_{side}", ("constant", "linear", "cosine", "inverse_sqrt"), "constant"),
        Choice(f"clip_{side}", ("none", "0.1", "0.25", "1"), "none"),
        Choice(f"drop_{side}", ("0", "0.1", "0.2", "0.3", "0.5"), "0"),
        Choice(f"smooth_{side}", ("0", "0.05", "0.1", "0.2"), "0"),
    )


PAGE = Page(
    "training",
    parameters=(
        Choice("task", TASKS, "chinese"),
        Choice("width", ("16", "32", "48", "64"), "48"),
        Whole("steps", 20, 400, 160, step=20),
        Whole("seed", 0, 999, 0),
        *of_side("a", 0),
        *of_side("b", 90),
        Whole("at", 0, RECORDS, RECORDS),
        Choice("view", VIEWS, "curves"),
        Choice("look", ("own", "cross", "encoder"), "own"),
        Choice("find", ("sharpest", "induction", "previous", "mirror", "chosen"), "sharpest"),
        Whole("layer", 1, 24, 1),
        Whole("head", 1, 4, 1),
        Choice("step", MAPS, "map_b"),
        Cell(
            "cell",
            (*MAPS, "held_out"),
            ("held_out", 1, RECORDS),
            sizes=(*of_size(31, 31, *MAPS), ("held_out", 2, RECORDS + 1)),
        ),
        Choice("grad_step", GRADIENTS, "grad_b"),
        Cell("grad_cell", GRADIENTS, ("grad_b", 0, 0), sizes=of_size(48, RECORDS + 1, *GRADIENTS)),
    ),
    predictions=("warm_up", "depth", "dropout", "one_layer"),
    shows=(
        "core.models.training.train",
        "core.models.training.one_step",
        "core.models.training.cross_entropy",
        "core.models.training.clip_gradients",
        "core.models.schedule.learning_rate",
        "core.models.induction.induction_score",
    ),
    needs=("residual", "normalization", "forward_pass"),
    sources=(
        "vaswani2017",
        "xiong2020",
        "loshchilov2019",
        "loshchilov2017",
        "pascanu2013",
        "srivastava2014",
        "szegedy2016",
        "olsson2022",
    ),
)
