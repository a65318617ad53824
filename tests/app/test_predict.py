"""Predict first: nothing is revealed before, the verdict is what an independent computation says, and all can be undone."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.toy import toy_inputs
from tests.app.harness import assert_whole, link_of, open_page
from ui.numbers import number
from ui.predictions.attention import PREDICTIONS
from ui.words import Words

BY_NAME = {p.name: p for p in PREDICTIONS}
WORDS = Words("en", "attention")


def computed(sentence: str, values: dict, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Weights and scaled scores from PyTorch's own attention."""
    toy = toy_inputs(sentence.split(), seed, values["dk"])
    scale = 1 / values["tau"] / (values["dk"] ** 0.5 if values["scaled"] else 1)
    eye = torch.eye(len(toy.x), dtype=torch.float64)
    weights = scaled_dot_product_attention(
        toy.q, toy.k, eye, is_causal=values["mask"] == "causal", scale=scale
    )
    return weights.numpy(), (toy.q @ toy.k.mT * scale).numpy()


def entropy(weights: np.ndarray) -> float:
    safe = np.where(weights > 0, weights, 1)
    return float(-(weights * np.log(safe)).sum(-1).mean())


def moved(before: float, after: float) -> str:
    return "stays" if abs(before - after) < 5e-4 else "rises" if after > before else "falls"


def expected(name: str, before, after) -> tuple[str, list[float]]:
    """The right option and the numbers that must be told, from (weights, scaled scores) before and after."""
    if name == "scaling":
        tops = [w.max(-1).mean() for w, _ in (before, after)]
        return moved(*tops), tops
    if name == "width":
        first, second = (s.std() for _, s in (before, after))
        ratio = second / first
        return "grows" if ratio > 1.5 else "shrinks" if ratio < 1 / 1.5 else "about_same", [first, second]
    if name == "temperature":
        entropies = [entropy(w) for w, _ in (before, after)]
        return moved(*entropies), entropies
    if name == "first_row":
        assert after[0][0].tolist() == [1, 0, 0, 0, 0, 0]
        return "alone", [before[0][0, 0], 1.0]
    gaps = [np.abs(w[0] - w[3]).max() for w, _ in (before, after)]  # "the" at 1 and 4
    return "equal" if gaps[1] < 1e-9 else "different", gaps


def ask(name: str, query: dict | None = None):
    """The page with the question on the table and its start set up."""
    app = open_page("attention", {"lang": "en"} | (query or {}))
    app.button(key="attention predict").click().run()
    app.button_group(key="attention predict which").set_value(name).run()
    keys = [b.key for b in app.button]
    if "attention predict.set_up" in keys:
        app.button(key="attention predict.set_up").click().run()
    return app


def said(app) -> str:
    boxes = (*app.markdown, *app.success, *app.info)
    return "\n".join(box.value for box in boxes)


def told_numbers(app, name: str) -> str:
    opening = WORDS._texts[f"predict.{name}.told"].split("{{")[0]
    return next(m.value for m in app.markdown if m.value.startswith(opening))


@pytest.mark.parametrize("seed", [7, 11, 123])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_the_verdict_is_what_an_independent_computation_says(name, seed, caplog):
    asked = BY_NAME[name]
    app = ask(name, {"seed": str(seed)})
    link = link_of(app)
    start = {
        "dk": int(link["dk"]),
        "tau": float(link["tau"]),
        "scaled": link["scaled"] == "1",
        "mask": link["mask"],
    }
    right, numbers = expected(
        name,
        computed(link["s"], start, seed),
        computed(link["s"], start | {k: v for k, v in asked.change.items() if k in start}, seed),
    )
    wrong = next(option for option in asked.options if option != right)
    app.radio(key=f"attention predict guess {name}").set_value(wrong).run()
    app.button(key="attention predict.show").click().run()
    assert_whole(app, caplog)
    assert f"You guessed “{WORDS(f'predict.{name}.{wrong}')}”" in said(app)
    assert f"the computation says “{WORDS(f'predict.{name}.{right}')}”" in said(app)
    story = told_numbers(app, name)
    assert all(number(value) in story for value in numbers if value > 1e-9), (story, numbers)
    # The real controls have moved, and the question is done.
    assert link_of(app) == link | {k: _written(k, v) for k, v in asked.change.items()}
    # Asked again from the same start, the right guess is called right.
    app.button(key="attention predict.again").click().run()
    app.button(key="attention predict.set_up").click().run()
    app.radio(key=f"attention predict guess {name}").set_value(right).run()
    app.button(key="attention predict.show").click().run()
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."


def _written(name: str, value) -> str:
    return (
        "01"[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    )


@pytest.mark.parametrize("name", list(BY_NAME))
def test_nothing_is_revealed_before_and_everything_can_be_undone(name):
    plain = open_page("attention", {"lang": "en"})
    before = link_of(plain)
    app = ask(name)
    start = link_of(app)
    asked = BY_NAME[name]
    app.radio(key=f"attention predict guess {name}").set_value(asked.options[0]).run()
    assert link_of(app) == start
    hidden = said(app)
    app.button(key="attention predict.show").click().run()
    assert WORDS(f"predict.{name}.because") in said(app)
    assert WORDS(f"predict.{name}.because") not in hidden
    story = told_numbers(app, name)
    assert story not in hidden
    app.button(key="attention predict.back").click().run()
    assert link_of(app) == before


def test_the_changed_numbers_are_nowhere_on_the_page_before():
    app = ask("temperature", {"mask": "none"})
    before = said(app)
    app.button(key="attention predict.show").click().run()
    after = entropy(
        computed("the cat sat on the mat", {"dk": 8, "tau": 4.0, "scaled": True, "mask": "none"})[0]
    )
    assert number(after) in said(app)
    assert number(after) not in before


def test_closed_by_default_and_never_in_the_link():
    app = open_page("attention", {"lang": "en"})
    before = link_of(app)
    assert "predict" not in said(app).lower()
    app.button(key="attention predict").click().run()
    assert WORDS("predict.scaling.question") in said(app)
    assert link_of(app) == before
    app.button(key="attention predict").click().run()
    assert WORDS("predict.scaling.question") not in said(app)


def test_the_question_says_from_where_it_starts_and_that_one_is_there_already():
    app = open_page("attention", {"lang": "en", "mask": "causal"})
    app.button(key="attention predict").click().run()
    app.button_group(key="attention predict which").set_value("first_row").run()
    assert "already set the way this question would set them" in said(app)
    assert "Mask: None" in said(app)
    assert not app.radio
    app.button(key="attention predict.set_up").click().run()
    assert link_of(app)["mask"] == "none"
    assert app.radio
    # Whoever moves away from the start is told so, instead of being asked about something else.
    app.selectbox(key="attention.mask").set_value("window").run()
    assert not app.radio
    assert "already set the way" not in said(app)


def test_hands_are_counted_kept_over_the_language_and_told_with_the_verdict(caplog):
    app = ask("scaling")
    app.button(key="attention predict.count").click().run()
    for option in ("rises", "rises", "falls", "stays"):
        app.button(key=f"attention hand scaling {option}").click().run()
    app.button(key="attention hand back").click().run()
    app.button_group(key="language switch").set_value("zh").run()
    app.button(key="attention predict.show").click().run()
    assert_whole(app, caplog)
    assert "3 次举手里有 2 次猜对。" in said(app)
    assert "hand" not in "".join(link_of(app))


def test_a_pinned_state_that_would_give_the_answer_away_waits():
    app = ask("scaling", {"a": "dk-64~mask-none~scaled-0"})
    assert "would give the answer away" in said(app)
    assert not any(m.value.startswith("| Number") for m in app.markdown)
    app.button(key="attention predict.show").click().run()
    assert "would give the answer away" not in said(app)


def test_with_one_token_the_answer_is_still_the_computed_one():
    app = ask("scaling", {"s": "alone", "tokens": "1"})
    app.radio(key="attention predict guess scaling").set_value("stays").run()
    app.button(key="attention predict.show").click().run()
    assert app.success[0].value == "Your guess was right: It stays the same."
    app = ask("first_row", {"s": "alone", "tokens": "1"})
    app.radio(key="attention predict guess first_row").set_value("as_before").run()
    app.button(key="attention predict.show").click().run()
    assert app.success
