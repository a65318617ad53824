"""Predictions are declared whole, in words of both languages, and are judged by what is computed."""

import pytest

from ui import course
from ui.predict import Desk, Prediction, Round, direction
from ui.predictions import (
    architectures,
    attention,
    cross_attention,
    feed_forward,
    forward_pass,
    linear_maps,
    masks,
    multi_head,
    normalization,
    positions,
    residual,
    tokens,
    training,
)
from ui.words import LANGUAGES, Words

ASKED = {
    "architectures": architectures.PREDICTIONS,
    "attention": attention.PREDICTIONS,
    "cross_attention": cross_attention.PREDICTIONS,
    "feed_forward": feed_forward.PREDICTIONS,
    "forward_pass": forward_pass.PREDICTIONS,
    "linear_maps": linear_maps.PREDICTIONS,
    "masks": masks.PREDICTIONS,
    "multi_head": multi_head.PREDICTIONS,
    "residual": residual.PREDICTIONS,
    "positions": positions.PREDICTIONS,
    "normalization": normalization.PREDICTIONS,
    "tokens": tokens.PREDICTIONS,
    "training": training.PREDICTIONS,
}


def made(**changes) -> Prediction:
    whole = {"start": {"x": 1, "y": 2}, "change": {"x": 3}, "options": ("a", "b")}
    return Prediction("name", verdict=lambda b, a: frozenset("a"), measure=lambda b, a: {}, **whole | changes)


def test_every_page_with_questions_is_listed_here_and_asks_the_ones_it_announces():
    announced = {page.stem: page.predictions for page in course.PAGES.values() if page.predictions}
    assert announced == {stem: tuple(p.name for p in asked) for stem, asked in ASKED.items()}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("stem", "asked"), [pytest.param(s, p, id=f"{s}-{p.name}") for s, ps in ASKED.items() for p in ps]
)
def test_every_question_has_its_words_and_starts_within_the_limits(stem, asked, lang):
    words, page = Words(lang, stem), course.PAGES[stem]
    for key in ("question", "told", "because", *asked.options):
        assert f"predict.{asked.name}.{key}" in words
    for name, value in (*asked.start.items(), *asked.change.items()):
        assert page.parameter(name).read(page.parameter(name).write(value)) == (value, None)


@pytest.mark.parametrize("start", [{}, {"y": 2}, {"x": 3}, {"x": 3.0}])
def test_a_start_that_leaves_the_change_open_is_refused(start):
    with pytest.raises(ValueError, match="other values for"):
        made(start=start)


def test_where_the_page_stands():
    asked = made()
    assert asked.ready({"x": 1, "y": 2, "z": 9})
    assert not asked.ready({"x": 1, "y": 3})
    assert asked.missing({"x": 1, "y": 3}) == ("y",)
    assert asked.already({"x": 3, "y": 9})
    assert asked.reveals({"x": 3})
    assert not asked.reveals({"x": 1})
    assert made(start={"x": 0.3}, change={"x": 1.0}).ready({"x": 0.1 + 0.2})


def test_the_way_back_leads_to_before_the_first_question():
    desk = Desk("one")
    desk.remember({"x": 1, "y": 2}, {"x": 5})
    desk.remember({"x": 5, "y": 2}, {"x": 6, "y": 7})
    assert desk.back == {"x": 1, "y": 2}


def test_hands_are_counted():
    this = Round(hands=["a", "b", "a"])
    assert [this.count(option) for option in "abc"] == [2, 1, 0]


@pytest.mark.parametrize(
    ("before", "after", "word"), [(1, 2, "rises"), (2, 1, "falls"), (1, 1, "stays"), (1, 1.0004, "stays")]
)
def test_direction(before, after, word):
    assert direction(before, after) == word
