"""Pages under random settings: what they computed, and every sentence they said about it."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.app.harness import open_page
from ui import course
from ui.parameters import Cell, Choice, Grid, Parameter, Pinned, Real, Several, Switch, Text, Whole
from ui.words import Words

SENTENCES = (
    "我爱学习",
    "the cat sat on the mat",
    "a",
    "no no no",
    "苹果发布了新款手机，它的价格很亲民",
    "x y",
)
NOUNS = "tokens|layers|keys|heads|steps|pairs|multiplications|sentences|rows|columns|queries|matrices|numbers"
NOUNS += (
    "|maps|outputs|places|positions|components|draws|characters|scores|products|neighbours|cells|hands|names"
)
KINDS = "more|recurrent|real|source|target|tanh|random|global|query|KV|key-value|visible|dilated|padding"
# "1 tokens", "1 recurrent steps": one of something that the sentence speaks of as many; "6 × 1 weights" is a size.
ONE_OF_MANY = re.compile(rf"(?<![\w.,·−/])(?<!× )1 (?:(?:{KINDS}) )?(?:{NOUNS})\b")
MANY_OF_ONE = re.compile(r"\b\d+th\b(?<!4th|5th|6th|7th|8th|9th|0th)|\bhead \d+, \d", re.IGNORECASE)


@dataclass
class Said:
    """One run of a page: its settings, what the words said under which key, and the results behind the notices."""

    settings: dict[str, Any]
    words: list[tuple[str, str]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    def of(self, key: str) -> str | None:
        """What was said under a key last, or None."""
        return next((text for name, text in reversed(self.words) if name == key), None)

    def number_slips(self) -> list[str]:
        """Sentences in which a number and its noun do not agree."""
        return [text for key, text in self.words if ONE_OF_MANY.search(text) or MANY_OF_ONE.search(text)]


def at_random(parameter: Parameter, dice: random.Random) -> Any:
    """A value of a parameter; its ends come up more often than the rest."""
    if isinstance(parameter, Text):
        return dice.choice(SENTENCES)
    if isinstance(parameter, Choice):
        return dice.choice(parameter.codes)
    if isinstance(parameter, Several):
        return tuple(code for code in parameter.codes if dice.random() < 0.3)
    if isinstance(parameter, Switch):
        return dice.random() < 0.5
    if isinstance(parameter, Pinned | Cell | Grid):
        return parameter.default
    if dice.random() < 0.4:
        return dice.choice(parameter.ends())
    if isinstance(parameter, Whole):
        return dice.randrange(
            parameter.low, min(parameter.high, parameter.low + 1000 * parameter.step) + 1, parameter.step
        )
    assert isinstance(parameter, Real)
    return round(parameter.low + parameter.step * dice.randint(0, round((parameter.high - parameter.low) / parameter.step)), 6)  # fmt: skip


def runs(
    stem: str, count: int, seed: int, monkeypatch, *, tab: str = "", figure: str = "", fixed=None
) -> Iterator[Said]:
    """The page in English under `count` random settings, a tab open; `figure` names the module whose notices are watched.

    `fixed` are settings that stay. The results of that module's notices are kept in the order of the calls.
    """
    page, dice, said = course.PAGES[stem], random.Random(f"{stem} {tab} {seed}"), Said({})
    for name in ("__call__", "plain"):
        plain = getattr(Words, name)

        def listen(self, key, /, _plain=plain, **values):
            text = _plain(self, key, **values)
            said.words.append((key, text))
            return text

        monkeypatch.setattr(Words, name, listen)
    if figure:
        module = importlib.import_module(f"ui.figures.{figure}")
        notices = module.notices

        def watch(*given):
            said.results.append(given)
            return notices(*given)

        monkeypatch.setattr(module, "notices", watch)
    app = open_page(stem, {"lang": "en"}, tab=tab)
    for _ in range(count):
        settings = {p.name: at_random(p, dice) for p in page.parameters} | (fixed or {})
        said.settings, said.words, said.results = settings, [], []
        app.query_params.clear()
        app.query_params["lang"] = "en"
        for parameter in page.parameters:
            app.query_params[parameter.name] = parameter.write(settings[parameter.name])
        app.run()
        assert not app.exception, (settings, [e.value for e in app.exception])
        assert not app.error, (settings, [e.value for e in app.error])
        yield said
