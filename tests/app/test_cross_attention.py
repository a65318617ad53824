"""The cross-attention page: rectangles from two sentences, and words that are true to independent computations."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.both_kinds import toy_additive
from core.attention.recurrent import toy_recurrent
from core.attention.toy import toy_inputs
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.figures.cross_attention import compute
from ui.frame import takeaway
from ui.numbers import number
from ui.predictions.cross_attention import PREDICTIONS
from ui.words import LANGUAGES, Words

SOURCE, TARGET = ("我", "爱", "学", "习"), ("I", "love", "learning")
PADDED = (*SOURCE, "⟨pad⟩", "⟨pad⟩")
TABS = ("additive", "masks", "bottleneck", "costs")


def page(query: dict[str, str] | None = None, lang: str = "en", tab: str = ""):
    return open_page("cross_attention", {"lang": lang} | (query or {}), tab=tab)


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def vectors():
    asking, answering = toy_inputs(TARGET, 7, 8), toy_inputs(PADDED, 7, 8)
    return asking.q, answering.k, answering.v


def weights(masked: bool = True) -> torch.Tensor:
    """PyTorch's own attention with the unit matrix as values: the weights [3, 6]."""
    q, k, _ = vectors()
    mask = torch.tensor([[True] * 4 + [not masked] * 2]).expand(3, 6)
    return scaled_dot_product_attention(q, k, torch.eye(6, dtype=q.dtype), attn_mask=mask)


def additive_weights() -> torch.Tensor:
    """Pair by pair, as the paper writes it: [3, 6]."""
    (q, k, _), learned = vectors(), toy_additive(7, 8, 6)
    scores = torch.full((3, 6), -torch.inf, dtype=q.dtype)
    for i in range(3):
        for j in range(4):
            scores[i, j] = learned.v @ torch.tanh(learned.w_q.T @ q[i] + learned.w_k.T @ k[j])
    return torch.softmax(scores, -1)


def test_the_map_is_a_rectangle_with_the_numbers_of_pytorch():
    story = prose(page({"cell": "weights.1.2"}))
    assert "3 target queries and 6 source keys give 3 × 6 weights. The output is 3 × 8" in story
    assert "target token 2 ` love ` gives to source token 3 ` 学 `" in story
    assert f"= {number(weights()[1, 2].item())}\n" in story
    entropy = torch.distributions.Categorical(weights()[:, :4]).entropy().mean().item()
    assert f"spreads over {number(math.exp(entropy))} of the 4 source tokens" in story
    assert "2 of the 6 source columns are padding: exactly 0" in story


def test_an_unmasked_padding_takes_its_share_and_is_told():
    share = weights(masked=False)[:, 4:].sum(-1).mean().item()
    assert share > 0.05
    assert f"on average {number(share)} of a row goes there" in prose(page({"masked": "0"}))
    assert "the mask hides nothing" in prose(page({"pad": "0"}))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "cell",
    [
        "q.1.7",
        "k.5.0",
        "v.1.0",
        "scores.1.0",
        "scaled.1.0",
        "masked.0.3",
        "masked.0.5",
        "weights.0.3",
        "weights.0.5",
        "output.2.7",
    ],
)
def test_every_kind_of_number_has_its_story(cell, lang, caplog):
    app = page({"cell": cell}, lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    name, row, column = cell.split(".")
    q, k, v = vectors()
    values = {"q": q, "k": k, "v": v, "scores": q @ k.T, "scaled": q @ k.T / 8**0.5, "output": weights() @ v}
    if name in values:
        assert f"= {number(values[name][int(row), int(column)].item())}\n" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"src": "a", "tgt": "b", "pad": "0", "dk": "1", "da": "1"},
        {"src": "词" * 40, "tgt": "x", "pad": "8", "row": "24"},
        {"src": "x", "tgt": "the cat saw the cat " * 8, "masked": "0", "row": "24", "gain": "3", "da": "32"},
        {"n": "1", "d": "1", "kernel": "2", "near": "1", "gain": "0.2"},
        {"n": "1000000", "d": "65536", "kernel": "64", "near": "100000"},
    ],
)
def test_a_tab_stands_unequal_sentences_and_the_ends_of_its_parameters(tab, query, lang, caplog):
    app = page(query, lang, tab)
    assert_whole(app, caplog)
    words = Words(lang, "cross_attention")
    assert prose(app).count(f"# {words('notice.title')}") == 2
    assert "NaN" not in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"src": "", "tgt": "  "}, ["我爱学习", "I love learning"]),
        ({"src": "word " * 30}, ["30", "24"]),
        ({"tgt": "x" * 500}, ["200"]),
        ({"src": "<b>$x$</b> **y** :material/home:", "tgt": "`"}, []),
    ],
)
def test_any_two_sentences_are_read_and_told(query, told, lang, caplog):
    app = page(query, lang)
    assert_whole(app, caplog)
    remarks = " ".join(info.value for info in app.info)
    assert all(word in remarks for word in told)
    assert bool(remarks) == bool(told)


def test_a_pair_fills_both_boxes():
    app = page()
    app.session_state["cross_attention pairs"] = True
    app.run()
    next(b for b in app.button if b.label.startswith("the kitten")).click().run()
    assert (link_of(app)["src"], link_of(app)["tgt"]) == ("the kitten eats fish", "小猫爱吃鱼")
    assert "5 target queries and 6 source keys" in prose(app)


def test_additive_attention_says_what_the_papers_formula_gives():
    add, dot = additive_weights(), weights()
    story = prose(page({"row": "3", "add_cell": "kinds_diff.2.1"}, tab="additive"))
    assert (
        f"{number(add[2, 1].item())} - {number(dot[2, 1].item())} = {number((add - dot)[2, 1].item())}\n"
        in story
    )
    assert f"differ by up to {number((add - dot).abs().max().item())}" in story
    agreeing = int((add.argmax(-1) == dot.argmax(-1)).sum())
    assert f"{agreeing} of 3. They are untrained" in story
    assert f"Σ|v| = {number(toy_additive(7, 8, 6).v.abs().sum().item())}" in story
    assert "3 × 6 × 6 = 108 tanh numbers where the dot product keeps 18 scores, and learns 102 more" in story


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "cell",
    [
        "pq.1.1",
        "pk.3.2",
        "summed.2.1",
        "hidden.2.1",
        "e.1.2",
        "s.1.2",
        "add.1.2",
        "add.1.5",
        "dot.1.2",
        "kinds_diff.1.2",
    ],
)
def test_every_number_of_both_kinds_has_its_story(cell, lang, caplog):
    app = page({"add_cell": cell}, lang, "additive")
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2
    (q, k, _), learned = vectors(), toy_additive(7, 8, 6)
    name, row, column = cell.split(".")
    summed = (q @ learned.w_q)[1] + k @ learned.w_k  # [6, d_a] of the query in row 2
    values = {"pq": q @ learned.w_q, "pk": k @ learned.w_k, "summed": summed, "hidden": summed.tanh()}
    values |= {"s": q @ k.T / 8**0.5, "add": additive_weights(), "dot": weights()}
    if name in values:
        shown = number(values[name][int(row), int(column)].item())
        assert f"= {shown}\n" in prose(app)


def test_the_two_masks_hide_the_target_s_future_and_no_source():
    story = prose(page({"row": "2"}, tab="masks"))
    assert "sees 2 of 3 target tokens; hidden as its future: 1." in story
    assert "every real token of the source (4)" in story
    assert "the 2 rows before it by at most 0," in story  # exactly: nothing of the future gets through
    q, k, v = vectors()
    other = toy_inputs(("我", "爱", "学", "⟨?⟩"), 7, 8)
    moved = scaled_dot_product_attention(q, other.k, other.v) - scaled_dot_product_attention(q, k[:4], v[:4])
    assert f"by at least {number(moved.abs().amax(-1).min().item())}." in story
    assert (
        "hide 6 of the 12 pairs with real tokens" in story
    )  # 12 pairs, of which the staircase keeps 1 + 2 + 3


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "cell", ["self.0.1", "self.2.1", "cross.0.3", "cross.0.5", "mistake.0.1", "mistake.1.1"]
)
def test_every_weight_under_a_mask_has_its_story(cell, lang, caplog):
    app = page({"mask_cell": cell}, lang, "masks")
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2
    name, row, column = cell.split(".")
    asking = toy_inputs(TARGET, 7, 8)
    eye = torch.eye(3, dtype=torch.float64)
    own = scaled_dot_product_attention(asking.q, asking.k, eye, is_causal=True)
    value = {"self": own, "cross": weights()}.get(name)
    if value is not None:
        assert f"= {number(value[int(row), int(column)].item())}\n" in prose(app)


def test_the_bottleneck_says_what_autograd_finds():
    x = toy_inputs(SOURCE, 7, 8).x

    def last(given, gain=1.5):
        learned, state = toy_recurrent(7, 32, gain), torch.zeros(32, dtype=x.dtype)
        for token in given:
            state = torch.tanh(token @ learned.w_x + state @ learned.w_h)
        return state

    norms = torch.autograd.functional.jacobian(last, x).pow(2).sum((0, 2)).sqrt()  # [4]
    shares = norms / norms.sum()
    story = prose(page({"gain": "1.5"}, tab="bottleneck"))
    assert f"` 我 ` has {number(shares[0].item())} of the influence" in story
    assert f"` 习 ` has {number(shares[-1].item())}" in story
    assert "4 tokens of 32 numbers, 128 in all" in story
    assert "a signal passes 5 recurrent steps" in story  # 3 in the encoder, 2 in the decoder
    assert (
        shares[0] > torch.autograd.functional.jacobian(lambda g: last(g, 0.5), x)[:, 0].norm() / norms.sum()
    )


def test_the_table_of_costs_is_the_papers_for_the_reader_s_sizes():
    app = page({"n": "1000", "d": "256", "kernel": "5", "near": "30"}, tab="costs")
    table = next(m.value for m in app.markdown if m.value.startswith("| Layer"))
    for entry in (
        f"$n d^2$ = {1000 * 256**2:,} | $n$ = 1,000 | $n$ = 1,000 |",
        f"$k\\,n\\,d^2$ = {5 * 1000 * 256**2:,} | $1$ | $\\log_k n$ = 5 |",  # 5⁴ = 625 < 1000
        f"$n^2 d$ = {1000**2 * 256:,} | $1$ | $1$ |",
        f"$r\\,n\\,d$ = {30 * 1000 * 256:,} | $1$ | $n/r$ = 34 |",
    ):
        assert entry in table
    assert "3.91 times as much" in prose(app)
    assert "10.2 times less" in prose(page(tab="costs"))
    assert "the same work" in prose(page({"n": "512"}, tab="costs"))


@pytest.mark.parametrize(("name", "right"), [
    ("longer_batch", "unchanged"), ("unmasked", "falls"), ("longer_target", "unchanged"), ("longer_source", "all_fall"),
])  # fmt: skip
def test_the_questions_have_the_answers_that_their_reasons_give(name, right):
    (asked,) = [p for p in PREDICTIONS if p.name == name]
    start = {"src": "我爱学习", "tgt": "I love learning", "pad": 2, "masked": True} | dict(asked.start)
    for seed in range(5):
        before, after = (
            compute(tuple(s["src"]), tuple(s["tgt"].split()), s["pad"], s["masked"], 8, seed)
            for s in (start, start | dict(asked.change))
        )
        assert asked.verdict(before, after) == {right}
        asked.measure(before, after)


def test_padding_on_and_off_are_compared():
    app = page({"a": "masked-1", "masked": "0"})
    assert "**Mask the padding**: on in A, off in B" in prose(app)
    row = next(line for m in app.markdown for line in m.value.splitlines() if "Weight on padding" in line)
    share = weights(masked=False)[:, 4:].sum(-1).mean().item()
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["0", number(share)]


@pytest.mark.parametrize(
    ("lang", "query"), [("en", {}), ("zh", {"masked": "0", "src": 'a\'b "c" \\', "da": "3"})]
)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(lang, query, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    files: dict = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: files.update({kind: make}))
    app = page(query, lang, "takeaway")
    assert not app.exception
    shown, computed = matrices(files["csv"]()), run(files["ipynb"](), tmp_path)
    assert set(shown) == set(computed)
    for name, values in shown.items():
        np.testing.assert_allclose(computed[name], values, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_checks_hold(lang, caplog):
    app = page({"pad": "5", "dk": "64"}, lang, "code")
    assert_whole(app, caplog)
    assert not app.warning
    assert prose(app).count("×10⁻¹") == 3


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axes_of_the_charts_are_in_the_reader_s_language(lang):
    words = Words(lang, "cross_attention")
    charts = [json.loads(e.proto.spec) for e in page(lang=lang, tab="costs").get("vega_lite_chart")]
    titles = {
        layer["encoding"]["y"]["title"]
        for c in charts
        for layer in c["layer"]
        if "title" in layer["encoding"].get("y", {})
    }
    assert titles == {words.plain(f"costs.axis.{name}") for name in ("work", "sequential", "path")}
