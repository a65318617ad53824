"""The embedding table used a second time: its rows are what the last vectors are compared with."""

from __future__ import annotations

from ui.figures.tokens_lookup import drawn
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.result import Result
from ui.words import Words

TIED = ("hidden", "transposed", "logits")


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Vectors times the transposed table gives a score for every token."""
    return (tuple(drawn(name, result, words) for name in TIED),)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts = result.facts
    return words.plain("tied.summary", tokens=len(facts["ids"]), own=facts["own"], vocab=facts["vocab"])


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of the output was made."""
    name, i, j = cell
    array = result.arrays[name]
    told = {
        "i": i + 1,
        "j": j + 1,
        "row": array.rows[i],
        "column": array.columns[j],
        "value": array.values[i, j],
    }
    if name != "logits":
        return words(f"tied.why.{name}", **told)
    h, entry = result.values("hidden")[i], result.values("transposed")[:, j]
    own = result.facts["used"][j] == result.facts["ids"][i]
    told |= {"id": result.facts["used"][j], "sum": sum_of_products(h, entry), "d": result.parameters["d"]}
    story = words("tied.why.logits", **told)
    return story + "\n\n" + words("tied.why.own", **told) if own else story


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: dot products as scores, what is saved, and what an empty model would predict."""
    facts, d = result.facts, result.parameters["d"]
    t = len(facts["ids"])
    told = {"own": facts["own"], "tokens": t, "d": d, "vocab": facts["vocab"], "numbers": facts["vocab"] * d}
    own = "tied.notice.own_all" if facts["own"] == t else "tied.notice.own_some"
    return [words(own, **told), words("tied.notice.size", **told), words("tied.notice.gradient", **told)]


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix of the output."""
    if name == "logits":
        return "core.text.lookup.tied_logits", "logits"
    return (
        ("core.text.lookup.lookup", "rows")
        if name == "hidden"
        else ("core.text.lookup.seeded_table", "drawn")
    )
