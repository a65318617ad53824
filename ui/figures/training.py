"""Two training runs side by side: what came of each, the chosen head's map, and the story of each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from core.models.corpus import corpus, scenes
from core.models.schedule import learning_rate
from core.models.tasks import IGNORED, Task, task_named
from core.models.training import TrainingSettings
from ui.course.training import MAPS, SIDES
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.training_side import (
    HEADS,
    KINDS,
    LAST,
    OWN,
    SELDOM,
    Side,
    kind_of,
    looks,
    place_of,
    settings_of,
    shown,
    side_of,
    texts,
    trimmed,
)
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.runs import RunView
from ui.words import Raw, Words

NEAR = 0.03  # as a share of the frequency-only loss: nearer counts as no better


def result(values: Mapping[str, Any], view: RunView | None) -> Result:
    """The page's one value: of a run as it stands, or of the settings alone where there is none."""
    pair = settings_of(values) if view is None else view.settings
    sides = {s: side_of(pair[i], () if view is None else view.steps[i]) for i, s in enumerate(SIDES)}
    task = task_named(pair[0].task)
    parameters = dict(values) | shown_settings(pair) | {"corpora": corpora(pair[0].task)}
    parameters |= {f"done_{s}": sides[s].done for s in SIDES}
    at = looks(pair[0].steps)
    arrays = {"rate": Array(_rates(pair), ("A", "B"), _numbered(pair[0].steps), ("setting", "step"))}
    places: dict[str, tuple[int, int, float]] = {}
    if any(side.done for side in sides.values()):
        arrays |= _curves(sides, at)
    for s, side in sides.items():
        if not len(side.looked):
            continue
        arrays[f"grad_{s}"] = _gradients(side, at)
        places[s] = place_of(side, values, task)
        kind = kind_of(values, task)
        layer, head, _ = places[s]
        k = shown(side, at[values["at"]])
        weights = trimmed(side.maps[k][kind], kind, task)[layer, head].numpy()
        rows, columns = texts(kind, task)
        arrays[f"map_{s}"] = Array(weights, rows, columns, ("query", "key" if kind != "cross" else "source"))
        parameters |= {f"map_kind_{s}": KINDS[kind], f"map_layer_{s}": layer, f"map_head_{s}": head}
        parameters[f"map_step_{s}"] = int(side.looked[k])
    for s in SIDES:
        parameters = {f"map_{what}_{s}": None for what in ("kind", "layer", "head", "step")} | parameters
    facts = {"sides": sides, "task": task, "at": at[values["at"]], "looks": at, "places": places}
    facts |= {"frequency": task.frequency_loss, "finished": finished(sides), "view": view}
    return Result(parameters, arrays, facts)


def finished(sides: Mapping[str, Side]) -> bool:
    """Whether both runs came to their end, good or bad."""
    return all(side.failed or side.done == side.settings.steps for side in sides.values())


def shown_settings(pair: Sequence[TrainingSettings]) -> dict[str, Any]:
    """The settings of a run under the names and in the codes of the page's parameters."""
    told = {"task": pair[0].task, "width": str(pair[0].width), "steps": pair[0].steps, "seed": pair[0].seed}
    for side, s in zip(SIDES, pair, strict=True):
        own = {"layers": s.layers, "norm": s.norm_place, "res": s.residual, "rate": f"{s.learning_rate:g}"}
        own |= {"warm": s.warm_up, "plan": s.schedule, "clip": "none" if s.clip is None else f"{s.clip:g}"}
        own |= {"drop": f"{s.dropout:g}", "smooth": f"{s.label_smoothing:g}"}
        told |= {f"{name}_{side}": value for name, value in own.items()}
    return told


@cache
def corpora(task: str) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """The sentences of a task that has some: language, those to train on, those held out."""
    names = {"chinese": ("zh",), "english": ("en",), "both": ("zh", "en"), "translate": ("zh", "en")}
    of = scenes if task in ("chinese", "english") else corpus
    return tuple((lang, of(lang).train, of(lang).held_out) for lang in names.get(task, ()))


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, n + 1)))


def _rates(pair: Sequence[TrainingSettings]) -> np.ndarray:
    """The learning rate of every step, as it will be or was, [2, steps]."""
    return np.array(
        [
            [learning_rate(t, s.steps, s.learning_rate, s.warm_up, s.schedule) for t in range(1, s.steps + 1)]
            for s in pair
        ]
    )


def _curves(sides: Mapping[str, Side], at: Sequence[int]) -> dict[str, Array]:
    """Training loss and gradient norm by step, held-out loss by look; NaN where a run has not come to."""
    n = max(side.done for side in sides.values())
    steps, columns = _numbered(n), tuple(map(str, at))
    by_look = [[_at(side.held_out, side, step) for step in at] for side in sides.values()]
    return {
        "train": Array(
            _padded([s.losses for s in sides.values()], n), ("A", "B"), steps, ("setting", "step")
        ),
        "norm": Array(_padded([s.norms for s in sides.values()], n), ("A", "B"), steps, ("setting", "step")),
        "held_out": Array(np.array(by_look), ("A", "B"), columns, ("setting", "look")),
    }


def _padded(rows: Sequence[np.ndarray], n: int) -> np.ndarray:
    return np.stack([np.pad(row, (0, n - len(row)), constant_values=np.nan) for row in rows])


def _at(values: np.ndarray, side: Side, step: int) -> Any:
    """What was seen at a look, or NaN."""
    found = np.flatnonzero(side.looked == step)
    return values[found[0]] if found.size else np.nan


def _gradients(side: Side, at: Sequence[int]) -> Array:
    """The gradient's norm of each block at each look, [L, looks]; the encoder's blocks first."""
    empty = np.full(side.gradients.shape[1], np.nan)
    values = np.stack(
        [g if isinstance(g := _at(side.gradients, side, step), np.ndarray) else empty for step in at], 1
    )
    return Array(values, block_names(side), tuple(map(str, at)), ("layer", "look"))


def block_names(side: Side) -> tuple[str, ...]:
    """1, 2, …; of an encoder-decoder e1, e2, …, d1, d2, …"""
    blocks, layers = side.gradients.shape[1], side.settings.layers
    if blocks == layers:
        return _numbered(layers)
    return tuple(f"{stack}{i}" for stack in "ed" for i in range(1, layers + 1))


def name_of(side: str, result: Result, words: Words) -> str:
    """A side as a legend names it: "A: warm-up 90", by what sets it apart from the other."""
    p = result.parameters
    differ = [name for name in OWN if p[f"{name}_a"] != p[f"{name}_b"]]
    parts = [part(name, p[f"{name}_{side}"], words) for name in differ[:3]]
    if not parts:
        return side.upper()
    return words.plain("name.side", side=side.upper(), parts=" · ".join(parts))


def part(name: str, value: Any, words: Words) -> str:
    """One setting in a word or two."""
    if name == "res":
        return words.plain("name.res" if value else "name.no_res")
    if name in ("norm", "plan"):
        return words.plain(f"choice.{name}_a.{value}")
    if value in ("none", "0", 0):
        return words.plain(f"name.no_{name}")
    return words.plain(f"name.{name}", value=value)


def all_settings(side: str, p: Mapping[str, Any], words: Words) -> str:
    """All that a side was run with, in one line."""
    return " · ".join(part(name, p[f"{name}_{side}"], words) for name in OWN)


def set_apart(side: str, p: Mapping[str, Any], words: Words) -> str:
    """Of the settings that stand behind a button: those that are not as a plain run has them, in one line."""
    return " · ".join(
        part(name, value, words) for name, plain in SELDOM.items() if (value := p[f"{name}_{side}"]) != plain
    )


def rows(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """The chosen head's map in both runs, side by side; nothing before the first look."""
    there = [name for name in MAPS if name in result.arrays]
    return (tuple(_map(name, result, words) for name in there),) if there else ()


def _map(name: str, result: Result, words: Words) -> Matrix:
    array, side, p = result.arrays[name], name[-1], result.parameters
    layer, head = p[f"map_layer_{side}"] + 1, p[f"map_head_{side}"] + 1
    hidden = None
    if p[f"map_kind_{side}"] == "maps":
        hidden = np.triu(np.ones(array.values.shape, dtype=bool), 1)
    return matrix_of(
        result,
        name,
        words,
        title=words.plain("map.title", side=side.upper(), layer=layer, head=head, step=p[f"map_step_{side}"]),
        axis_titles=axis_titles(array.axes, words, "matrix.axis"),
        hidden=hidden,
        hidden_as=words.plain("hidden.future"),
        note="",
        large=True,
    )


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p = result.parameters
    told = {"task": words.plain(f"choice.task.{p['task']}"), "steps": p["steps"], "seed": p["seed"]}
    told |= {f"name_{s}": all_settings(s, p, words) for s in SIDES}
    sides = result.facts["sides"]
    if "held_out" not in result.arrays:
        return words.plain("summary.none", **told)
    ends = {f"end_{s}": sides[s].end for s in SIDES} | {f"done_{s}": sides[s].done for s in SIDES}
    ends |= {f"held_{s}": float(sides[s].held_out[-1]) if len(sides[s].looked) else np.nan for s in SIDES}
    return words.plain("summary", frequency=result.facts["frequency"], **told, **ends)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How one number was made."""
    name, row, column = cell
    value = float(result.values(name)[row, column])
    return (
        _why_loss(result, row, column, value, words) if name == "held_out" else _why_map(result, cell, words)
    )


def _why_loss(result: Result, row: int, column: int, value: float, words: Words) -> str:
    task: Task = result.facts["task"]
    side = SIDES[row]
    told = {"side": Raw(name_of(side, result, words)), "step": result.facts["looks"][column]}
    if not np.isfinite(value):
        return words("why.loss_missing", **told)
    targets = int((task.held_out.targets != IGNORED).sum())
    told |= {"value": value, "n": targets, "texts": len(task.held_out.tokens), "sum": value * targets}
    told |= {"p": float(np.exp(-value)), "frequency": result.facts["frequency"]}
    told |= {"by_chance": float(np.exp(-result.facts["frequency"]))}
    return words("why.loss", **told)


def _why_map(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    name, row, column = cell
    side, p = name[-1], result.parameters
    array = result.arrays[name]
    causal = p[f"map_kind_{side}"] == "maps"
    told = {"side": Raw(name_of(side, result, words)), "layer": p[f"map_layer_{side}"] + 1}
    told |= {"head": p[f"map_head_{side}"] + 1, "step": p[f"map_step_{side}"], "i": row + 1, "j": column + 1}
    told |= {
        "query": array.rows[row],
        "key": array.columns[column],
        "value": float(array.values[row, column]),
    }
    if causal and column > row:
        return words("why.map_hidden", **told)
    seen = row + 1 if causal else array.values.shape[1]
    told |= {"d": int(p["width"]) // HEADS, "seen": seen, "even": 1 / seen}
    told["first"] = first_weight(result, cell)
    return words("why.map", **told)


def first_weight(result: Result, cell: tuple[str, int, int]) -> float:
    """The same weight of the same head at the first look."""
    name, row, column = cell
    side: Side = result.facts["sides"][name[-1]]
    p = result.parameters
    kind = next(k for k, attribute in KINDS.items() if attribute == p[f"map_kind_{name[-1]}"])
    return float(side.maps[0][kind][p[f"map_layer_{name[-1]}"], p[f"map_head_{name[-1]}"], row, column])


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a number: the dotted name of the function, and the variable it assigns."""
    if name == "held_out":
        return "core.models.training.look", "held_out_loss"
    return "core.attention.dot_product.attention", "weights"


def numbers(result: Result, words: Words) -> str:
    """A Markdown table of what came of both."""
    sides = result.facts["sides"]
    lines = [f"| {words('number.what')} | A | B |", "|:--|--:|--:|"]
    cells = {
        "end": [number(s.end) for s in sides.values()],
        "held": [number(s.held_out[-1]) if len(s.looked) else "–" for s in sides.values()],
        "accuracy": [f"{100 * s.accuracy[-1]:.0f} %" if len(s.looked) else "–" for s in sides.values()],
        "half": [number(h) if (h := half_at(s, result)) else "–" for s in sides.values()],
        "norm": [number(float(s.norms.max())) if s.done else "–" for s in sides.values()],
    }
    lines += [f"| {words(f'number.{key}', last=LAST)} | {a} | {b} |" for key, (a, b) in cells.items()]
    return "\n".join(lines)


def half_at(side: Side, result: Result) -> int:
    """The first step by which the mean loss of the last five is below half of what frequencies give; 0 if none."""
    if side.done < 5:
        return 0
    means = np.convolve(side.losses, np.ones(5) / 5, "valid")
    below = np.flatnonzero(means < result.facts["frequency"] / 2)
    return int(below[0]) + 5 if below.size else 0
