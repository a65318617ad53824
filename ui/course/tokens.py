"""The registry's entry for the page on tokens and embeddings."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Switch, Text, Whole

ROWS = ("characters", "words", "pairs")
LOOKUP = ("one_hot", "table", "rows", "output")
TIED = ("hidden", "transposed", "logits")
EXPERIMENTS = (
    Whole("merge", 1, 600, 10),
    Whole("word", 1, 60, 2),
    Choice("sign", ("own", "mixed", "accents", "family", "tone", "flag", "heart"), "mixed"),
    Whole("d", 2, 16, 8),
    Switch("scaled", False),
    Choice("emb_step", LOOKUP, "rows"),
    Cell("emb_cell", LOOKUP, ("rows", 1, 0)),
    Text("near", "kitten", limit=40),
    Choice("tied_step", TIED, "logits"),
    Cell("tied_cell", TIED, ("logits", 1, 1)),
)
PAIRS = ("learn", "counts_of", "encode", "path")

PAGE = Page(
    "tokens",
    parameters=(
        Text("s", "the kitten eats fish 小猫爱吃鱼 🙂", limit=120),
        Whole("merges", 0, 600, 400),
        Whole("seed", 0, 999, 7),
        Cell("cell", ROWS, ("pairs", 0, 2), limit=512),
        *EXPERIMENTS,
    ),
    predictions=("fish", "merge", "strangers", "emoji"),
    shows=(
        *(f"core.text.byte_pairs.{name}" for name in PAIRS),
        "core.text.utf8.characters",
        "core.text.utf8.stretches",
        "core.text.closed_vocabulary.look_up",
        "core.text.lookup.lookup",
        "core.text.lookup.tied_logits",
        "core.text.lookup.neighbours",
    ),
    needs=("linear_maps",),
    sources=("gage1994", "sennrich2016", "radford2019", "yergeau2003", "vaswani2017", "press2017"),
)
