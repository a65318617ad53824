"""Eight heads of 24 × 24: how soon they are redrawn, and what their thumbnails weigh on the wire."""

from __future__ import annotations

from statistics import median

from playwright.sync_api import Browser

from bench.browser import WARM_UP, Handle
from bench.report import Row, of_samples
from bench.settings import EMPTY, Subject
from core.attention import masks
from core.attention.toy_heads import toy_heads
from tests.serving import Server
from ui.figures import multi_head as figure
from ui.matrix import encode, spoken
from ui.words import Words

HEADS, TOKENS, D_MODEL = 8, 24, 24
SENTENCE = " ".join(f"w{n}" for n in range(TOKENS))


def heads_rows(
    browser: Browser, server: Server, yardstick: Server, subject: Subject, presses: int
) -> list[Row]:
    """Key press to the eight heads redrawn, beside the empty fragment press by press, and bytes a weight."""
    ours, empty = Handle(browser, server, subject), Handle(browser, yardstick, EMPTY)
    for handle in (ours, empty):
        for _ in range(WARM_UP):
            handle.press()
    pairs = [(ours.press()["redrawn"], empty.press()["redrawn"]) for _ in range(presses)]
    redrawn = of_samples(
        "eight heads 24 × 24, slider key → redrawn",
        [pair[0] for pair in pairs],
        "ms",
        yardstick=median(pair[1] for pair in pairs),
        yardstick_name="empty fragment",
        target=2.5,
        relative=True,
    )
    sent = Row(
        "their thumbnails on the wire, header included",
        bytes_per_weight(),
        "B/weight",
        yardstick=4.0,
        yardstick_name="float32",
        target=1.5,
    )
    return [redrawn, sent]


def bytes_per_weight() -> float:
    """The multi-head page's own thumbnails as they are sent, divided by the weights they show.

    The enlarged head is sent in full beside them; its numbers do not count, all else that is sent does.
    """
    tokens = tuple(SENTENCE.split())
    x, module = toy_heads(tokens, 7, D_MODEL, HEADS)
    trace = module(x, mask=masks.causal(TOKENS))
    settings = {"tokens": tokens, "d_model": D_MODEL, "heads": HEADS, "kv": HEADS, "mask": "causal"}
    settings |= {"tau": 1.0, "off": (), "seed": 7}
    words = Words("en", "multi_head")
    result = figure.result(settings, x, module, trace, trace)
    maps = figure.steps(result, words)[0]
    sent = encode((maps,), maps[0].name, None, spoken(words), figure.summary(result, words))
    return (len(sent) - 4 * TOKENS * TOKENS) / ((HEADS - 1) * TOKENS * TOKENS)
