"""Contrasts that are worth a run: each sets everything that a run depends on."""

from __future__ import annotations

from typing import Any

from ui.course.training import PAGE, SIDES

SHARED = ("task", "width", "steps", "seed")


def contrast(
    a: dict[str, Any], b: dict[str, Any], both: dict[str, Any] | None = None, **shared: Any
) -> dict[str, Any]:
    """The default of every setting of a run, then what both, A and B have of their own."""
    plain = {"layers": 2, "norm": "pre", "res": True, "rate": "0.003", "warm": 0}
    plain |= {"plan": "constant", "clip": "none", "drop": "0", "smooth": "0"} | (both or {})
    values = {name: PAGE.parameter(name).default for name in SHARED}
    values |= {"view": "curves", "look": "own", "find": "sharpest", "at": PAGE.parameter("at").default}
    for side, own in zip(SIDES, (a, b), strict=True):
        values |= {f"{name}_{side}": value for name, value in (plain | own).items()}
    return values | shared


DEEP = {"layers": 12, "norm": "post", "rate": "0.003"}
HEADS = {"view": "maps", "find": "induction"}
CROSS = {"view": "maps", "look": "cross"}
PRESETS = {
    "warm_up": contrast({}, {"warm": 90}, DEEP),
    "norm_place": contrast({"norm": "pre"}, {"norm": "post"}, DEEP),
    "shallow": contrast({"layers": 12}, {"layers": 6}, DEEP),
    "deep": contrast({"norm": "pre"}, {"norm": "post"}, {"layers": 24, "rate": "0.001"}, steps=80),
    "no_residual": contrast({}, {"res": False}, {"layers": 12, "rate": "0.003"}),
    "clipping": contrast({}, {"clip": "1"}, {"layers": 6, "norm": "none"}),
    "dropout": contrast({}, {"drop": "0.3"}, steps=300),
    "smoothing": contrast({}, {"smooth": "0.1"}, steps=200),
    "schedule": contrast({}, {"plan": "linear"}, {"rate": "0.02"}),
    "diverges": contrast({"rate": "0.001"}, {"rate": "0.2"}, {"layers": 24, "norm": "none"}, steps=40),
    "induction": contrast({"layers": 1}, {"layers": 2}, task="repeat", width="64", **HEADS),
    "fixed": contrast({"layers": 1}, {"layers": 2}, task="repeat-fixed", width="64", **HEADS),
    "reversal": contrast(
        {"layers": 1}, {"layers": 2}, task="reverse", width="64", steps=200, **CROSS | {"find": "mirror"}
    ),
    "translation": contrast({"drop": "0"}, {"drop": "0.1"}, task="translate", steps=200, **CROSS),
}
