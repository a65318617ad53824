"""From X to queries, keys and values, and on to heads: one sentence's numbers, and the shapes of the whole batch."""

from __future__ import annotations

import numpy as np

from core.attention.shapes import ShapeStep, batch_shapes, heads_by_view_alone
from core.attention.toy import seeded
from ui.cached import cached
from ui.figures.matrices import axis_titles, matrix_of
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

INPUTS = ("x", "w", "flat")
STEPS = ("apart", "heads", "wrong")
NOTES = (4, 16, 512, 8)  # batch, tokens, d_model, heads of the course notes
FOLLOWED = (2, 9, 200)  # sentence, token and component of the number that is followed, counted from 0
SPREAD = 3.0  # standard deviations that the colours reach; all numbers here have variance about 1
FILE = "core.attention.shapes"
NUMBERED = 10  # rows of numbers, above and below together, that a screen has room for


@cached(max_entries=8)
def of_the_notes(name: str, seed: int) -> tuple[dict[str, tuple[int, ...]], float, dict[str, float]]:
    """[4, 16, 512] with 8 heads, computed: the shape of each step, and one number found at each of its addresses."""
    steps = _steps(name, seed, *NOTES)
    d_head = NOTES[2] // NOTES[3]
    b, t, c = FOLLOWED
    head, rest = divmod(c, d_head)
    places = {"flat": (b, t, c), "apart": (b, t, head, rest), "heads": (b, head, t, rest)}
    found = {step: float(steps[step].tensor[place]) for step, place in places.items()}
    return {step: made.shape for step, made in steps.items()}, found, places


def _steps(name: str, seed: int, *sizes: int) -> dict[str, ShapeStep]:
    """The steps that concern one of q, k, v, under names that do not say which."""
    short = {"x": "x", f"w_{name}": "w", name: "flat", f"{name}_apart": "apart", f"{name}_heads": "heads"}
    later = ("scores", "weights", "head_outputs", "back", "joined")
    made = batch_shapes(seeded("shapes", seed), *sizes)
    return {short.get(s.name, s.name): s for s in made if s.name in short or s.name in later}


@cached(max_entries=64)
def compute(
    name: str, batch: int, tokens: int, n_heads: int, d_head: int, sentence: int, seed: int
) -> Result:
    """The numbers of one sentence at each step; `sentence` is counted from 1, and beyond the batch it is the last."""
    d_model = n_heads * d_head
    steps = _steps(name, seed, batch, tokens, d_model, n_heads)
    shown = min(sentence, batch) - 1
    flat = steps["flat"].tensor  # [B, T, d]
    token = tuple(str(t + 1) for t in range(tokens))
    component = tuple(str(c + 1) for c in range(d_model))
    split = tuple(f"{h + 1}·{c + 1}" for h in range(n_heads) for c in range(d_head))
    stacked = tuple(f"{h + 1}·{t + 1}" for h in range(n_heads) for t in range(tokens))
    wrong = heads_by_view_alone(flat, n_heads)[shown].flatten(0, 1)  # [H T, d_head]
    arrays = {
        "x": Array.of(steps["x"].tensor[shown], token, component, axes=("token", "feature")),
        "w": Array.of(steps["w"].tensor, component, component, axes=("feature", "slot")),
        "flat": Array.of(flat[shown], token, component, axes=("token", "slot")),
        "apart": Array.of(steps["apart"].tensor[shown].flatten(1), token, split, axes=("token", "slot")),
        "heads": Array.of(steps["heads"].tensor[shown].flatten(0, 1), stacked, axes=("stacked", "part")),
        "wrong": Array.of(wrong, stacked, axes=("stacked", "part")),
    }
    settings = {"name": name, "batch": batch, "tokens": tokens, "heads": n_heads, "d_head": d_head}
    settings |= {"sentence": shown + 1, "seed": seed}
    facts = {"shapes": {s: made.shape for s, made in steps.items()}}
    facts["operations"] = {s: made.operation for s, made in steps.items()}
    facts["axes"] = {s: made.axes for s, made in steps.items()}
    return Result(settings, arrays, facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """X W = Q above; heads apart, heads first, and the classic mistake below. All with numbers where there is room."""
    tallest = [max(len(result.arrays[name].rows) for name in row) for row in (INPUTS, STEPS)]
    large = sum(tallest) <= NUMBERED
    return tuple(tuple(_matrix(n, result, words, large) for n in row) for row in (INPUTS, STEPS))


def _matrix(name: str, result: Result, words: Words, large: bool) -> Matrix:
    letter = result.parameters["name"]
    rows, columns = axis_titles(result.arrays[name].axes, words, "matrix.axis")
    shape = f"[{', '.join(map(str, _seen_shape(name, result)))}]"
    return matrix_of(
        result,
        name,
        words,
        limit=SPREAD,
        title=words.plain(f"qkv.title.{name}", name=letter.upper(), small=letter),
        # Two rows of numbers leave no line for the names of the columns: the note has them then.
        axis_titles=(rows, "" if large else columns),
        identity="residual" if name == "x" else letter,
        note=f"{shape} · {rows} × {columns}" if large else shape,
        arrow=words.plain(f"qkv.arrow.{name}") if f"qkv.arrow.{name}" in words else "",
        large=large,
    )


def _seen_shape(name: str, result: Result) -> tuple[int, ...]:
    """The shape of the whole batch at this step."""
    return result.facts["shapes"]["heads" if name == "wrong" else name]


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """A number of Q is a product; after that only its address changes."""
    name, row, column = cell
    p = result.parameters
    told = {"name": Raw(p["name"]), "value": float(result.values(name)[row, column])}
    if name in INPUTS:
        told |= {"i": row + 1, "j": column + 1, "b": p["sentence"]}
        if name == "flat":
            told["sum"] = sum_of_products(result.values("x")[row], result.values("w")[:, column])
        return words(f"qkv.why.{name}", **told)
    if name == "apart":
        head, part = divmod(column, p["d_head"])
        return words("qkv.why.apart", **told | _address(p["sentence"], row, head, part, p["d_head"]))
    head, token = divmod(row, p["tokens"])
    if name == "wrong":
        at, slot = divmod((head * p["tokens"] + token) * p["d_head"] + column, p["heads"] * p["d_head"])
        told |= {"i": at + 1, "j": slot + 1, "right": float(result.values("heads")[row, column])}
        name = "lucky" if (at, slot) == (token, head * p["d_head"] + column) else name
    return words(f"qkv.why.{name}", **told | _address(p["sentence"], token, head, column, p["d_head"]))


def _address(sentence: int, token: int, head: int, part: int, d_head: int) -> dict[str, int]:
    """Where a number of one head stands and in which column of Q it was: counted from 1, and as `…0` from 0."""
    column = head * d_head + part
    from_0 = {"b": sentence - 1, "t": token, "h": head, "c": part, "column": column}
    return (
        {name: n + 1 for name, n in from_0.items()}
        | {f"{name}0": n for name, n in from_0.items()}
        | {"d": d_head}
    )


def notices(result: Result, words: Words) -> list[str]:
    """The product rule at work, what view and transpose do, and what view alone would do."""
    p, shapes = result.parameters, result.facts["shapes"]
    told = {name: _listed(shape) for name, shape in shapes.items()}
    misplaced = int((result.values("wrong") != result.values("heads")).sum())
    return [
        words(
            "qkv.notice.rule", x=told["x"], w=told["w"], flat=told["flat"], tokens=p["batch"] * p["tokens"]
        ),
        words("qkv.notice.address", heads=told["heads"], count=int(np.prod(shapes["flat"]))),
        words(
            "qkv.notice.wrong" if misplaced else "qkv.notice.lucky",
            misplaced=misplaced,
            count=result.values("wrong").size,
        ),
        words("qkv.notice.scores", scores=told["scores"], head=_listed(shapes["scores"][2:])),
    ]


def table(result: Result, words: Words) -> str:
    """Every step: the line of PyTorch, the axes, the shape with these sizes and with those of the notes."""
    letter = result.parameters["name"]
    shapes, found, places = of_the_notes(letter, result.parameters["seed"])
    head = ["qkv.table.step", "qkv.table.axes", "qkv.table.here", "qkv.table.notes", "qkv.table.followed"]
    lines = [f"| {' | '.join(words(key) for key in head)} |", "|:--|:--|:--|:--|:--|"]
    for name, shape in result.facts["shapes"].items():
        operation = result.facts["operations"][name] or words.plain(f"qkv.given.{name}")
        axes = " · ".join(words(f"qkv.axis.{axis}") for axis in result.facts["axes"][name])
        followed = ""
        if name in places:
            address = ", ".join(map(str, places[name]))
            followed = words("qkv.followed", address=Raw(f"[{address}]"), value=found[name])
        step = f"`{operation}`" if result.facts["operations"][name] else operation
        lines.append(f"| {step} | {axes} | {_listed(shape)} | {_listed(shapes[name])} | {followed} |")
    return f"{words('qkv.table.title')}\n\n" + "\n".join(lines)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    shapes = result.facts["shapes"]
    told = {name: _listed(shapes[name]) for name in ("x", "flat", "apart", "heads")}
    return words.plain("qkv.summary", **told, name=result.parameters["name"].upper())


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    function = "heads_by_view_alone" if name == "wrong" else "batch_shapes"
    return f"{FILE}.{function}", name


def _listed(shape: tuple[int, ...]) -> Raw:
    return Raw(f"[{', '.join(map(str, shape))}]")
