"""What the page on normalisation says holds at every setting: random ones, judged by arrays of NumPy's own."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from core.attention.toy import embedding
from ui import course
from ui.checks.normalization import normalization_checks
from ui.figures import normalization as figure
from ui.figures import normalization_forget as forget
from ui.figures import normalization_gradient as gradient
from ui.figures import normalization_padding as padding
from ui.figures import normalization_reads as reads
from ui.figures import normalization_running as running
from ui.figures import normalization_statistics as statistics
from ui.words import LANGUAGES, Words

TOKENS = ("the", "cat", "the", "我", "爱", "|", "`", "$x$", "cat", "a", "b", "c")
PAGE = course.PAGES["normalization"]
WORDS = {lang: Words(lang, "normalization") for lang in LANGUAGES}


def states(count: int, seed: int = 0):
    """Random settings of the main controls; ends come up often."""
    dice = random.Random(seed)
    for _ in range(count):
        n = dice.choice((1, 2, 3, dice.randint(1, 12)))
        settings = []
        for name in figure.SETTINGS:
            parameter = PAGE.parameter(name)
            if name == "eps":
                settings.append(dice.choice(parameter.codes))
            elif dice.random() < 0.4:
                settings.append(dice.choice(parameter.ends()))
            else:
                places = round((parameter.high - parameter.low) / parameter.step)
                settings.append(round(parameter.low + parameter.step * dice.randint(0, places), 6))
        sentences = tuple(sorted(dice.choices((1, 2, 3), k=n)))
        yield figure.compute(TOKENS[:n], sentences, tuple(settings))


def numbers(text: str) -> list[float]:
    """Every number in a sentence, as it was."""
    found = re.findall(r"−?[\d,]*\.?\d+(?:×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?", text)
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    parts = [f.replace("−", "-").replace(",", "").partition("×10") for f in found]
    return [float(p[0] + (f"e{p[2].translate(digits)}" if p[2] else "")) for p in parts]


def outputs(result, x: np.ndarray) -> dict[str, np.ndarray]:
    """The three norms by their formulas."""
    p = result.parameters
    eps, gamma, beta = p["eps"], p["gamma"], p["beta"]
    return {
        "layer": gamma * (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) + beta,
        "rms": gamma * x / np.sqrt((x**2).mean(1, keepdims=True) + eps),
        "batch": gamma * (x - x.mean(0)) / np.sqrt(x.var(0) + eps) + beta,
    }


def test_the_batch_is_what_the_sliders_say():
    for result in states(60):
        p = result.parameters
        x = (
            np.stack([embedding(t, p["seed"], 12)[: p["d"]].numpy() for t in p["tokens"]]) * p["scale"]
            + p["shift"]
        )
        x[p["row"] - 1, p["col"] - 1] += p["outlier"]
        np.testing.assert_allclose(result.facts["x"], x, atol=1e-12)
        for kind, y in outputs(result, x).items():
            np.testing.assert_allclose(figure.inner(result, kind), y, atol=1e-6)
            np.testing.assert_allclose(result.values(kind)[:-2, -2], y.mean(1), atol=1e-6)
            np.testing.assert_allclose(result.values(kind)[-1, :-2], y.var(0), atol=1e-5)
        assert np.isnan(result.values("x")[-2:, -2:]).all()


def close(told: float, value: float) -> bool:
    return told == pytest.approx(value, rel=6e-3, abs=1.01e-6)


def test_every_notice_is_true_everywhere():
    words, seen = WORDS["en"], set()
    for result in states(400):
        p, (n, d) = result.parameters, result.shape("x")
        said = figure.notices(result, words)
        y = outputs(result, result.facts["x"])
        if p["gamma"] == 0:
            (only,) = said
            seen.add("zero")
            assert close(numbers(only)[1], p["beta"])
            assert np.allclose(y["layer"], p["beta"])
            assert np.allclose(y["batch"], p["beta"])
            assert not y["rms"].any()
            continue
        layer, rms, batch, outlier = said
        if "too few" in layer:
            seen.add("one feature")
            assert d == 1
            np.testing.assert_allclose(y["layer"], p["beta"], atol=1e-6)
            assert close(numbers(layer)[-1], p["beta"])
        else:
            told = numbers(layer.split("It does not")[0])
            for value in (y["layer"].mean(1).min(), y["layer"].var(1).max()):
                assert any(close(t, value) for t in told), (layer, value)
        assert any(close(t, (y["rms"] ** 2).mean(1).max()) for t in numbers(rms)), rms
        if "too few" in batch:
            seen.add("one token")
            assert n == 1
            np.testing.assert_allclose(y["batch"], p["beta"], atol=1e-6)
            with pytest.raises(ValueError, match="more than 1 value"):
                nn.BatchNorm1d(d, dtype=torch.float64).train()(torch.from_numpy(result.facts["x"]))
        else:
            assert any(close(t, y["batch"].var(0).max()) for t in numbers(batch)), batch
        if p["outlier"] == 0:
            seen.add("clean")
            assert "no outlier" in outlier
            continue
        seen.add("outlier")
        clean = result.facts["x"].copy()
        clean[p["row"] - 1, p["col"] - 1] -= p["outlier"]
        moved = {k: np.abs(v - outputs(result, clean)[k]) > 1e-7 for k, v in y.items()}
        inside = {k: np.zeros((n, d), dtype=bool) for k in moved}
        inside["layer"][p["row"] - 1] = inside["rms"][p["row"] - 1] = True
        inside["batch"][:, p["col"] - 1] = True
        assert not any((moved[k] & ~inside[k]).any() for k in moved)
        counts = [int(moved[k].sum()) for k in ("layer", "rms", "batch")]
        told = re.search(
            r"changes (\d+) of (\d+) outputs? of LayerNorm and (\d+) of .* changes (\d+)", outlier
        )
        # A change near the limit of what counts may fall on either side of it.
        assert all(abs(int(told[g]) - c) <= 1 for g, c in zip((1, 3, 4), counts, strict=True)), (
            outlier,
            counts,
        )
        assert int(told[2]) == n * d
    assert seen == {"zero", "one feature", "one token", "clean", "outlier"}


ONE_OF_MANY = re.compile(r"(?<![\w.,·−/⁻])1 (?!is\b|was\b|has\b|as\b|less\b)[a-z]+s\b")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_setting_breaks_a_sentence_or_a_figure(lang):
    words, dice = WORDS[lang], random.Random(1)
    for result in states(60, seed=1):
        n, d = result.shape("x")
        cell = (dice.choice(figure.STEPS), dice.randrange(n), dice.randrange(d))
        experiments = {
            reads: reads.compute(result, cell),
            forget: forget.compute(result, dice.choice(forget.WHO), dice.choice((0.0, 3.0)), dice.choice((-1.0, 0.0, 1.0, 2.0))),
            running: running.compute(result, dice.choice((0, 1, 20)), dice.choice((0.01, 1.0)), dice.choice((2, 8))),
            padding: padding.compute(result, dice.choice((0, 1, 3))),
            gradient: gradient.compute(result),
        }  # fmt: skip
        texts = [*figure.notices(result, words), figure.summary(result, words)]
        for by in ("token", "feature"):
            texts += [*statistics.notices(result, by, words), statistics.table(result, by, words)]
            statistics.charts_of(result, by, words)
        figure.steps(result, words)
        for module, shown in experiments.items():
            (row,) = module.matrices(shown, words)
            texts += [*module.notices(shown, words), module.summary(shown, words)]
            texts += [module.why(shown, (m.name, m.shape[0] - 1, m.shape[1] - 1), words) for m in row]
        running.charts_of(experiments[running], words)
        for text in texts:
            assert "nan" not in text.lower().replace("nan,", ""), text
            assert lang == "zh" or not ONE_OF_MANY.search(text), text


@pytest.mark.parametrize("seed", range(3))
def test_a_sign_is_called_unforgotten_only_where_it_tells(seed):
    words = WORDS["en"]
    heard = set()
    for result in states(40, seed=seed):
        for who in forget.WHO:
            shown = forget.compute(result, who, 0.0, -1.0)  # a factor of 1 would change nothing
            moves = any(shown.values(name).any() for name in shown.arrays)
            said = words("forget.notice.flip") in forget.notices(shown, words)
            assert said == moves
            heard.add(said)
        later = running.compute(result, 5, 0.1, 4)
        same, n = not later.values("gap").round(figure.DIGITS).any(), result.shape("x")[0]
        assert (words("run.notice.same") in running.notices(later, words)) == (same and n > 1)
    assert heard == {True, False}


def test_what_the_reading_says_about_other_sentences_and_later_tokens():
    result = figure.compute(TOKENS[:6], (1, 1, 1, 2, 2, 3), (3, 1.0, 1.0, 0, 1, 1, 1.0, 0.0, "1e-5", 7))
    said = "\n".join(reads.notices(reads.compute(result, ("reads_layer", 1, 2)), WORDS["en"]))
    assert "From other sentences than number 1 come 3 of them." in said
    assert "1 of the numbers BatchNorm reads here belongs to later tokens" in said
    # Counted by autograd: which inputs one output of PyTorch's BatchNorm depends on.
    x = torch.from_numpy(result.facts["x"]).requires_grad_()
    (grad,) = torch.autograd.grad(nn.BatchNorm1d(3, dtype=torch.float64)(x)[1, 2], x)
    assert (grad != 0).sum() == 6
    assert (grad[:, 2] != 0).all()
    last = reads.notices(reads.compute(result, ("reads_layer", 5, 2)), WORDS["en"])
    assert not any("A leak" in sentence for sentence in last)


def test_the_checks_hold_everywhere_and_find_a_wrong_number():
    for result in states(80, seed=2):
        checks = normalization_checks(result, 0.1, 4)
        assert all(check.holds for check in checks), (result.parameters, checks)
    good = next(r for r in states(50, seed=3) if r.shape("x")[0] > 2 and r.parameters["eps"] == 1e-5)
    for kind in figure.KINDS:
        values = good.values(kind).copy()
        values[0, 0] += 1e-3
        bad = replace(good, arrays=good.arrays | {kind: replace(good.arrays[kind], values=values)})
        assert [c.name for c in normalization_checks(bad, 0.1, 4) if not c.holds] == [f"norm_{kind}"]


@pytest.mark.parametrize(("n", "d"), [(1, 4), (3, 1), (1, 1), (3, 2)])
def test_a_mean_of_one_number_lets_no_gradient_through(n, d):
    result = gradient.compute(
        figure.compute(TOKENS[:n], (1,) * n, (d, 1.0, 1.0, 0, 1, 1, 1.0, 0.5, "1e-5", 7))
    )
    said = "\n".join(gradient.notices(result, WORDS["en"]))
    assert ("With one feature LayerNorm lets nothing through" in said) == (d == 1)
    assert ("With one token BatchNorm lets nothing through" in said) == (n == 1)
    x = torch.from_numpy(result.facts["x"]).requires_grad_()
    (d_x,) = torch.autograd.grad(nn.LayerNorm(d, dtype=torch.float64)(x)[0, 0], x)
    assert bool(d_x.any()) == (d > 1)
    if d == 1:
        assert not result.values("grad_layer").any()
    if n == 1:
        assert not result.values("grad_batch").any()
