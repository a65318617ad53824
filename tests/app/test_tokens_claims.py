"""The page on tokens under random settings: every sentence holds, and numbers agree with their nouns."""

from itertools import chain

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from core.text import byte_pairs
from core.text.prose import learned_text
from tests.app.claims import runs
from ui import course
from ui.figures import tokens as figure
from ui.numbers import number

STEM = "tokens"


def whole(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_what_is_said_of_the_three_strips(monkeypatch):
    heard = set()
    mixed = course.PAGES[STEM].parameter("s").default
    free = runs(STEM, 40, 1, monkeypatch, figure="tokens")
    for said in chain(free, runs(STEM, 30, 7, monkeypatch, figure="tokens", fixed={"s": mixed})):
        assert not said.number_slips(), said.number_slips()
        text, n = said.settings["s"], said.settings["merges"]
        tokenizer: Tokenizer = byte_pairs.encoder(figure.merges()[:n])
        tokens = [byte_pairs.unspelled(token) for token in tokenizer.encode(text).tokens]
        assert (said.of("notice.bytes") is None) == (len(tokens) < len(text.encode()))
        if told := said.of("notice.length"):
            assert f"{len(text.encode()) / len(tokens):.2f} bytes on average" in told
            assert f"a vocabulary of {256 + n}," in told
        strangers = {c for c in text if c not in learned_text()}
        if strangers:
            assert f"lacks {sum(c in strangers for c in text)} of these characters" in said.of(
                "notice.unknown"
            )
        broken = [token for token in tokens if not whole(token)]
        assert (said.of("notice.whole") is None) == bool(broken)
        crossing = [token for token in broken if any(byte & 0xC0 != 0x80 for byte in token[1:])]
        assert (said.of("notice.crossing") is None) != bool(crossing)
        heard |= {key for key, _ in said.words if key.startswith("notice.")}
    assert {"notice.bytes", "notice.length", "notice.unknown", "notice.known", "notice.whole"} <= heard
    assert {"notice.broken", "notice.crossing"} <= heard


def test_what_is_said_of_a_merge(monkeypatch):
    for said in runs(STEM, 40, 2, monkeypatch, tab="learning", figure="tokens_learning"):
        assert not said.number_slips(), said.number_slips()
        found, _ = said.results[-1]
        counts = byte_pairs.pair_counts(
            byte_pairs.cut_words(learned_text(), [(m.left, m.right) for m in figure.merges()[: found.k - 1]])
        )
        best = max(counts.values())
        assert found.merge.count == best
        ties = sum(count == best for count in counts.values())
        if told := said.of("learn.notice.tied"):
            assert f"as often as {ties - 1:,} other" in told
        else:
            assert ties == 1
        assert (said.of("learn.notice.saved") is None) == (found.tokens[0] - found.tokens[1] != best)


@pytest.mark.parametrize("tab", ["path", "lengths", "bytes", "takeaway"])
def test_numbers_agree_with_their_nouns_in_every_tab(tab, monkeypatch):
    for said in runs(STEM, 15, 3, monkeypatch, tab=tab):
        assert not said.number_slips(), said.number_slips()


def test_what_is_said_of_lengths(monkeypatch):
    for said in runs(STEM, 15, 4, monkeypatch, tab="lengths", figure="tokens_lengths"):
        found, _ = said.results[-1]
        now = found.now
        assert now["zh", "held_out"] > now["en", "held_out"], (
            "a Chinese character costs more at every setting"
        )
        apart = all(now[lang, "learned"] < now[lang, "held_out"] for lang in ("en", "zh"))
        assert (said.of("length.notice.fit") is not None) == (apart and said.settings["merges"] > 0)
        for curve in found.per_character.values():
            assert (np.diff(curve) <= 0).all(), "every merge makes texts shorter, or leaves them as they are"


def test_what_is_said_of_the_table(monkeypatch):
    for said in runs(STEM, 30, 5, monkeypatch, tab="embeddings", figure="tokens_lookup"):
        assert not said.number_slips(), said.number_slips()
        result, _ = said.results[-1]
        ids = byte_pairs.encode(said.settings["s"], figure.merges()[: said.settings["merges"]]).ids[:12]
        repeats = len(ids) - len(set(ids))
        if repeats:
            assert f"stood before already: {repeats}." in said.of("emb.notice.repeats")
        else:
            assert said.of("emb.notice.no_repeats")
        assert (said.of("emb.notice.scaled") is not None) == said.settings["scaled"]
        assert result.facts["repeats"] == repeats
        d = said.settings["d"]
        drawn = torch.randn(
            1024, 64, generator=torch.Generator().manual_seed(said.settings["seed"]), dtype=torch.float64
        )
        size = float((drawn[: result.facts["vocab"], :d] / d**0.5).square().mean().sqrt())
        assert size * d**0.5 == pytest.approx(1, abs=0.2), "near 1/√d at every setting"
        told = said.of("emb.notice.scaled") or said.of("emb.notice.unscaled")
        assert number(size * d**0.5 if said.settings["scaled"] else size) in told


def test_what_is_said_of_the_tied_output(monkeypatch):
    for said in runs(STEM, 30, 6, monkeypatch, tab="tied", figure="tokens_tied"):
        assert not said.number_slips(), said.number_slips()
        result, _ = said.results[-1]
        all_own = result.facts["own"] == len(result.facts["ids"])
        assert (said.of("tied.notice.own_all") is not None) == all_own
