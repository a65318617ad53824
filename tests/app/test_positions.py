"""The page on positions: its words against attention computed here with complex numbers, and each sentence against the arrays."""

import re

import numpy as np
import pytest

from core.attention.toy import seeded, toy_inputs
from core.block.position_schemes import untrained_table
from tests.app.harness import assert_whole, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.frame import takeaway
from ui.words import LANGUAGES, Words

WORDS = Words("en", "positions")
SENTENCE = ("the", "dog", "bit", "the", "man")
SCHEMES = ("none", "sinusoidal", "learned", "rope", "alibi")


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def turns(start: int, t: int, d: int) -> np.ndarray:
    """e^(i t ω): [t, d/2], complex."""
    omega = 10000.0 ** (-np.arange(0, d, 2) / d)
    return np.exp(1j * np.arange(start, start + t)[:, None] * omega)


def scores_and_weights(tokens, scheme, start=0, head=1, dk=8, mask="none", seed=7):
    """Both [T, T], in NumPy; rows of −∞ where the mask hides."""
    toy, t = toy_inputs(tokens, seed, dk, 16), len(tokens)
    x = toy.x.numpy()
    if scheme == "sinusoidal":
        wave = turns(start, t, 16)
        x = x + np.stack([wave.imag, wave.real], -1).reshape(t, 16)
    if scheme == "learned":
        start = min(start, 64 - t)
        x = x + untrained_table(64, 16, seeded("position table", seed)).numpy()[start : start + t]
    q, k = x @ toy.w_q.numpy(), x @ toy.w_k.numpy()
    if scheme == "rope":
        half = dk // 2
        turned = [(y[:, :half] + 1j * y[:, half:]) * turns(start, t, dk) for y in (q, k)]
        scores = (turned[0] @ turned[1].conj().T).real / dk**0.5
    else:
        scores = q @ k.T / dk**0.5
    if scheme == "alibi":
        place = np.arange(t)
        scores = scores - 2.0**-head * abs(place[:, None] - place)
    if mask == "causal":
        scores = np.where(np.tri(t) > 0, scores, -np.inf)
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return scores, exps / exps.sum(-1, keepdims=True)


def told_value(app) -> float:
    """The number at the end of the chosen cell's story."""
    story = next(m.value for m in app.markdown if m.value.startswith("## Why"))
    return float(story.rsplit("$$", 2)[-2].rsplit("= ", 1)[1].replace("−", "-").replace(",", ""))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("start", "mask"), [(0, "none"), (33, "causal")])
def test_scores_weights_and_changes_are_those_computed_here(scheme, start, mask, caplog):
    scores, weights = scores_and_weights(SENTENCE, scheme, start, head=2, mask=mask)
    _, plain = scores_and_weights(SENTENCE, "none", mask=mask)
    query = {"lang": "en", "scheme": scheme, "start": str(start), "mask": mask, "head": "2"}
    expected = {"scores": scores, "weights": weights} | (
        {} if scheme == "none" else {"change": weights - plain}
    )
    for name, values in expected.items():
        for cell in ((4, 1), (2, 0)):
            app = open_page("positions", query | {"cell": f"{name}.{cell[0]}.{cell[1]}"})
            assert told_value(app) == pytest.approx(values[cell], rel=5e-3, abs=1e-3), (name, cell)
    assert_whole(app, caplog)


def test_the_sinusoids_have_the_published_values():
    query = {"lang": "en", "scheme": "sinusoidal", "start": "1"}
    for column, value in enumerate((0.8415, 0.5403)):  # PE(1) begins with sin 1 and cos 1, whatever the width
        app = open_page("positions", query | {"cell": f"pe.0.{column}"})
        assert told_value(app) == pytest.approx(value, abs=6e-4)


STORIES = {
    "sinusoidal": ("x.1.2", "pe.2.3", "xp.1.2", "q.1.2", "k.1.2", "scores.1.2", "weights.1.2", "change.1.2"),
    "learned": ("lp.2.3", "xp.1.2"),
    "rope": ("tq.1.2", "tk.1.6", "scores.1.2", "change.4.0"),
    "alibi": ("bias.1.4", "scores.1.4"),
    "none": ("scores.1.2", "weights.1.2"),
}


@pytest.mark.parametrize(
    ("scheme", "cell"), [(scheme, cell) for scheme, cells in STORIES.items() for cell in cells]
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_kind_of_number_has_its_story(scheme, cell, lang, caplog):
    app = open_page("positions", {"lang": lang, "scheme": scheme, "cell": cell})
    assert_whole(app, caplog)
    (story,) = [m.value for m in app.markdown if Words(lang, "positions")("why.title") in m.value]
    assert "$$" in story


@pytest.mark.parametrize("cell", ["scores.0.3", "weights.0.3", "change.0.3"])
def test_a_hidden_cell_says_why(cell):
    assert "causal mask hides" in prose(
        open_page("positions", {"lang": "en", "mask": "causal", "cell": cell})
    )


def test_a_turned_component_is_told_with_its_own_numbers():
    q = toy_inputs(SENTENCE, 7, 8, 16).q.numpy()[2]
    for column in (1, 5):
        app = open_page("positions", {"lang": "en", "scheme": "rope", "start": "9", "cell": f"tq.2.{column}"})
        turned = (q[1] + 1j * q[5]) * np.exp(1j * 11 * 10000 ** (-2 / 8))
        expected = turned.real if column == 1 else turned.imag
        assert told_value(app) == pytest.approx(expected, rel=5e-3)
        story = next(m.value for m in app.markdown if m.value.startswith("## Why"))
        one, sign, other = re.search(
            r"= (\(?−?[\d.]+\)?)\\cos\([\d.]+\) ([-+]) (\(?−?[\d.]+\)?)\\sin", story
        ).groups()
        numbers = [float(x.strip("()").replace("−", "-")) for x in (one, other)]
        angle = 11 * 10000 ** (-2 / 8)
        value = numbers[0] * np.cos(angle) + (1 if sign == "+" else -1) * numbers[1] * np.sin(angle)
        assert value == pytest.approx(expected, rel=2e-2, abs=2e-2)


def test_a_table_that_ends_is_told_and_the_text_put_where_it_fits(caplog):
    app = open_page("positions", {"lang": "en", "scheme": "learned", "start": "80"})
    assert_whole(app, caplog)
    assert "t = 59" in app.info[0].value
    assert link_of(app)["start"] == "80"
    assert not open_page("positions", {"lang": "en", "scheme": "rope", "start": "80"}).info


@pytest.mark.parametrize(
    "text", ["", "   ", "🙂🙂 你好", "**b** $x$ <i>", "x" * 500, "word " * 40, "{m} {q}"]
)
@pytest.mark.parametrize("tab", ["", "turning", "order"])
def test_any_text_is_read(text, tab, caplog):
    app = open_page("positions", {"lang": "en", "s": text, "tokens": "24", "scheme": "rope"}, tab=tab)
    assert_whole(app, caplog)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("twins", "differ"),
        ("rope_moves", "same"),
        ("sinusoids_move", "differ"),
        ("rope_self", "same"),
        ("slopes", "rises"),
    ],
)
def test_predictions_are_answered_by_what_was_computed(name, right, caplog):
    app = open_page("positions", {"lang": "en"})
    app.button(key="positions predict").click().run()
    app.button_group(key="positions predict which").set_value(name).run()
    set_up = [b for b in app.button if b.key == "positions predict.set_up"]
    if set_up:
        set_up[0].click().run()
    app.radio(key=f"positions predict guess {name}").set_value(right).run()
    app.button(key="positions predict.show").click().run()
    assert_whole(app, caplog)
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."


def test_two_schemes_are_compared(caplog):
    app = open_page("positions", {"lang": "en", "scheme": "rope", "a": "scheme-none"})
    assert_whole(app, caplog)
    assert "**Scheme**: None in A, RoPE in B" in prose(app)
    table = next(m.value for m in app.markdown if m.value.startswith("| Number"))
    _, weights = scores_and_weights(SENTENCE, "rope")
    gap = abs(weights[0] - weights[3]).max()
    line = next(line for line in table.splitlines() if line.startswith("| Difference between equal tokens"))
    assert line.split("|")[2].strip() == "0"
    assert float(line.split("|")[3]) == pytest.approx(gap, rel=5e-3)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_check_against_pytorch_holds(scheme, lang, caplog):
    query = {"lang": lang, "scheme": scheme, "mask": "causal", "start": "20", "head": "3"}
    app = open_page("positions", query, tab="code")
    assert_whole(app, caplog)
    assert not app.warning
    assert "torch.linalg.matrix_exp" in prose(app)


STATES = {
    "default": {},
    "none": {"scheme": "none", "mask": "causal"},
    "learned": {"scheme": "learned", "start": "70", "s": "我爱学习 我", "tokens": "5"},
    "rope": {"scheme": "rope", "start": "12", "dk": "6"},
    "alibi": {"scheme": "alibi", "head": "3", "mask": "causal"},
}


@pytest.mark.parametrize("state", STATES)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    open_page("positions", {"lang": "en"} | STATES[state], tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    assert set(shown) == set(made)
    for name, values in shown.items():
        np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-12, err_msg=name)
