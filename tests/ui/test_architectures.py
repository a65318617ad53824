"""The drawings of the families: every part stands where the description says, and is marked where two differ in it."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace

import pytest

from core.cost.sizes import count_parameters
from core.models.configs import PRESETS
from ui import course
from ui.course.architectures import MODELS
from ui.diagram import payload
from ui.figures import architectures as figure
from ui.figures import architectures_counts as counted
from ui.figures import architectures_traits as traits
from ui.words import LANGUAGES, Words

PAGE = course.PAGES["architectures"]
WORDS = {lang: Words(lang, "architectures") for lang in LANGUAGES}
NAMES = [name for name in MODELS if name != "own"]
# What the papers say, by hand: stack, causal somewhere, norm behind the addition, positions added, bias in attention.
FAMILIES = {
    "transformer-base": ("encoder-decoder", "post", "sinusoidal", False),
    "bert-base": ("encoder", "post", "learned", True),
    "gpt1": ("decoder", "post", "learned", True),
    "gpt2-small": ("decoder", "pre", "learned", True),
    "bart-base": ("encoder-decoder", "post", "learned", True),
    "t5-base": ("encoder-decoder", "pre", "", False),
    "llama-7b": ("decoder", "pre", "", False),
}


def own_values(dice: random.Random) -> dict:
    """The sliders of a model of one's own, somewhere."""
    values = {p.name: p.default for p in PAGE.parameters}
    for p in PAGE.parameters:
        if p.name.startswith("own_"):
            values[p.name] = dice.choice(p.ends())
    return values


def some_configs(count: int = 40):
    dice = random.Random(4)
    return [*(PRESETS[n] for n in NAMES), *(counted.own_config(own_values(dice)) for _ in range(count))]


def pieces(diagram):
    return {node.id: node for node in diagram.nodes}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_drawn_as_its_paper_has_it(name):
    stack, place, added, _ = FAMILIES[name]
    nodes = pieces(figure.drawing(PRESETS[name], WORDS["en"]))
    sides = ("encoder", "decoder") if stack == "encoder-decoder" else (stack,)
    for side in ("encoder", "decoder"):
        assert (f"{side}.self_inner" in nodes) == (side in sides)
        assert (f"{side}.cross_inner" in nodes) == (side == "decoder" and len(sides) == 2)
    for side in sides:
        assert (f"{side}.positions" in nodes) == bool(added)
        label = nodes[f"{side}.self_inner"].label
        assert label.startswith("Causal" if side == "decoder" else "Two-way")
        norm, inner, plus = (nodes[f"{side}.ffn_{end}"] for end in ("norm", "inner", "plus"))
        if place == "pre":
            assert norm.row == inner.row
            assert norm.column < inner.column
        else:
            assert norm.row == plus.row
            assert norm.column > plus.column
        assert (f"{side}.final_norm" in nodes) == (place == "pre")
    assert ("pooler" in nodes) == (name == "bert-base")
    assert ("RoPE" in nodes[f"{sides[-1]}.self_inner"].label) == (name == "llama-7b")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_any_two_are_drawn_and_marked_alike_on_both_sides(lang):
    for a, b in itertools.combinations(some_configs(12), 2):
        upper, lower = figure.drawings(a, b, WORDS[lang])
        for picture in (upper, lower):
            sent = payload(picture, words={"hint": "", "not_built": ""}, lang=lang)
            assert "{{" not in str(sent)
            places = [(n.column, n.row) for n in picture.nodes]
            assert len(set(places)) == len(places), "two parts stand on each other"
        one, other = pieces(upper), pieces(lower)
        for name in one.keys() & other.keys():
            if one[name].label != other[name].label and one[name].kind != "token":
                assert one[name].mark, (name, a.name, b.name)
                assert other[name].mark, (name, a.name, b.name)
        for name in one.keys() ^ other.keys():
            node = (one | other)[name]
            if node.kind not in ("tap", "add", "token") and a.stack == b.stack:
                assert node.mark, (name, a.name, b.name)


def test_a_model_does_not_differ_from_itself():
    for config in some_configs(12):
        assert traits.differing(config, config) == ()
        assert not any(node.mark for node in figure.drawings(config, config, WORDS["en"])[0].nodes)


@pytest.mark.parametrize(
    ("change", "trait", "marked"),
    [
        ({"norm_place": "post"}, "norm_place", {"decoder.self_norm", "decoder.ffn_norm"}),
        ({"final_norm": False}, "final_norm", {"decoder.final_norm"}),
        ({"vocab": 99}, "vocab", {"decoder.embedding", "logits"}),
        ({"tied": False}, "tied", {"logits"}),
        ({"ffn_bias": False}, "ffn_bias", {"decoder.ffn_inner"}),
        ({"limit": 99}, "context", {"decoder.positions", "decoder.plus"}),
        ({"attention_bias": False}, "attention_bias", {"decoder.self_inner"}),
        ({"banded": True}, "mask", {"decoder.self_inner"}),
        ({"dropout": 0.5}, "dropout", set()),
    ],
)
def test_one_change_marks_the_parts_that_it_concerns(change, trait, marked):
    a = PRESETS["gpt2-small"]
    b = replace(a, **change)
    assert set(traits.differing(a, b)) - {"size"} == {trait}
    upper, lower = figure.drawings(a, b, WORDS["en"])
    assert {n.id for picture in (upper, lower) for n in picture.nodes if n.mark} == marked


def test_gpt_1_and_2_differ_as_the_notes_say():
    assert traits.differing(PRESETS["gpt1"], PRESETS["gpt2-small"]) == (
        "norm_place",
        "final_norm",
        "context",
        "vocab",
        "size",
    )


def value_of_latex(text: str) -> tuple[int, int]:
    """Left and right side of a formula, computed."""
    if text == "0":
        return 0, 0
    left, right = text.replace("{,}", "").replace(r"\end{aligned}", "").split(r"\\&= ")
    left = left.replace(r"\begin{aligned}&", "").replace(r"\cdot", "*")
    assert re.fullmatch(r"[\d *+]+", left)
    return eval(left), int(right)  # digits, spaces, * and + only


@pytest.mark.parametrize("part", PAGE.parameter("part").codes)
def test_the_written_sum_is_the_count(part):
    for config in some_configs():
        left, right = value_of_latex(counted.latex(counted.terms_of(part, config)))
        assert left == right == getattr(count_parameters(config), part), (config.name, part)


def test_printed_numbers_are_near_the_counted_ones():
    """Within 10 %: GPT-2's paper is off by 6 %, as its authors said later."""
    for name, (printed, source) in counted.PUBLISHED.items():
        value = float(printed[:-1].replace(",", "")) * {"M": 1e6, "B": 1e9}[printed[-1]]
        assert count_parameters(PRESETS[name]).total == pytest.approx(value, rel=0.1), name
        assert source in PRESETS[name].sources or source == "radford2019"
