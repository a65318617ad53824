"""The page on normalisation: its words tell what PyTorch's own modules compute, at every setting of its controls."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from core.attention.toy import embedding
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.frame import takeaway
from ui.numbers import number
from ui.words import LANGUAGES, Words

TOKENS = ("the", "cat", "sat", "up", "我", "爱", "学", "习")
DOUBLE = torch.float64


def page(query: dict[str, str] | None = None, lang: str = "en", tab: str = ""):
    return open_page("normalization", {"lang": lang} | (query or {}), tab=tab)


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def batch(outlier: float = 10.0, d: int = 4, shift: float = 1.0) -> torch.Tensor:
    """The page's batch at its defaults, built anew."""
    x = torch.stack([embedding(token, 7, 12)[:d] for token in TOKENS]) + shift
    x[1, 2] += outlier
    return x


@torch.no_grad()
def by_pytorch(
    x: torch.Tensor, gamma: float = 1.0, beta: float = 0.0, eps: float = 1e-5
) -> dict[str, np.ndarray]:
    outputs = {}
    for kind, make in (("layer", nn.LayerNorm), ("rms", nn.RMSNorm), ("batch", nn.BatchNorm1d)):
        module = make(x.shape[1], eps=eps, dtype=DOUBLE)
        module.weight.fill_(gamma)
        if kind != "rms":
            module.bias.fill_(beta)
        outputs[kind] = module(x).numpy()
    return outputs


def span(values: np.ndarray) -> str:
    ends = [number(round(float(v), 7)) for v in (values.min(), values.max())]
    return ends[0] if ends[0] == ends[1] else " … ".join(ends)


def test_the_notices_tell_pytorchs_statistics(caplog):
    app = page({"gamma": "1.5", "beta": "-0.5", "eps": "0.1"})
    assert_whole(app, caplog)
    x, y, told = batch().numpy(), by_pytorch(batch(), 1.5, -0.5, 0.1), prose(app)
    assert f"Token means: {span(x.mean(1))} before, {span(y['layer'].mean(1))} after." in told
    assert f"Token variances: {span(x.var(1))} before, {span(y['layer'].var(1))} after." in told
    assert f"come out as {span(y['layer'].mean(0))}, their variances as {span(y['layer'].var(0))}." in told
    assert f"Mean squares: {span((x**2).mean(1))} before, {span((y['rms'] ** 2).mean(1))} after." in told
    assert f"Feature means: {span(x.mean(0))} before, {span(y['batch'].mean(0))} after." in told
    assert f"Feature variances: {span(x.var(0))} before, {span(y['batch'].var(0))} after." in told


def test_the_outlier_reaches_a_row_or_a_column_as_pytorch_has_it():
    told = prose(page())
    with_it, without = by_pytorch(batch()), by_pytorch(batch(0.0))
    moved = {kind: np.abs(with_it[kind] - without[kind]) > 1e-7 for kind in with_it}
    counts = {kind: int(where.sum()) for kind, where in moved.items()}
    assert counts == {"layer": 4, "rms": 4, "batch": 8}
    assert moved["layer"][1].all()
    assert moved["batch"][:, 2].all()
    assert "changes 4 of 32 outputs of LayerNorm and 4 of RMSNorm, none of them outside row 2" in told
    assert "Of BatchNorm it changes 8, none of them outside column 3" in told
    rest = [0, 1, 3]
    after, before = (number(float(y["layer"][1, rest].std())) for y in (with_it, without))
    assert f"a standard deviation of {after} after LayerNorm, and would have {before} without" in told


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("x.1.2", lambda x, y: x[1, 2]),
        ("x.0.3", lambda x, y: x[0, 3]),
        ("x.2.4", lambda x, y: x[2].mean()),
        ("x.9.3", lambda x, y: x[:, 3].var()),
        ("layer.5.1", lambda x, y: y["layer"][5, 1]),
        ("layer.8.1", lambda x, y: y["layer"][:, 1].mean()),
        ("layer.2.5", lambda x, y: y["layer"][2].var()),
        ("rms.5.1", lambda x, y: y["rms"][5, 1]),
        ("rms.3.4", lambda x, y: y["rms"][3].mean()),
        ("batch.5.1", lambda x, y: y["batch"][5, 1]),
        ("batch.3.4", lambda x, y: y["batch"][3].mean()),
    ],
)
def test_the_story_of_a_number_ends_in_pytorchs_value(cell, value):
    told = prose(page({"cell": cell}))
    expected = number(round(float(value(batch().numpy(), by_pytorch(batch()))), 7))
    assert f"= {expected}\n" in told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("place", ["0.0", "1.2", "0.4", "0.5", "8.0", "9.0", "9.5"])
def test_every_kind_of_number_has_its_story(place, lang, caplog):
    for name in ("x", "layer", "rms", "batch"):
        app = page({"cell": f"{name}.{place}", "eps": "1e-12", "beta": "-3"}, lang)
        assert_whole(app, caplog)
        assert len(lines_of_code(app)) == 1
        assert "8 × 4" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("tab", "name", "cells"),
    [
        ("reads", "reads_cell", ("reads_layer.1.2", "reads_rms.7.3", "reads_batch.0.0")),
        ("forget", "moved_cell", ("moved_layer.1.1", "moved_rms.1.1", "moved_batch.1.1")),
        ("running", "run_cell", ("training.1.1", "inference.1.1", "gap.1.1")),
        ("padding", "pad_cell", ("pad_x.0.0", "pad_x.9.0", "pad_layer.9.1", "pad_batch.9.1", "pad_real.0.1", "pad_real.9.1")),
        ("gradient", "grad_cell", ("g.0.1", "grad_layer.0.1", "grad_rms.0.1", "grad_batch.0.1")),
    ],
)  # fmt: skip
def test_every_number_of_the_experiments_has_its_story(tab, name, cells, lang, caplog):
    for cell in cells:
        app = page({name: cell}, lang, tab)
        assert_whole(app, caplog)
        assert len(lines_of_code(app)) == 2


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "tab", ["statistics", "reads", "forget", "running", "epsilon", "padding", "gradient", "code"]
)
@pytest.mark.parametrize(
    "query",
    [
        {"tokens": "1", "d": "1"},
        {"tokens": "24", "d": "12", "s": "a b c d e f g h i j k l | m n o p q r s t u v w x y z"},
        {"scale": "0", "eps": "1e-12", "shift": "-5", "outlier": "0"},
        {"gamma": "0", "outlier": "-50", "eps": "1", "pads": "0", "times": "0", "seen": "0", "momentum": "1"},
    ],
    ids=["one number", "many", "constant", "gamma 0"],
)  # fmt: skip
def test_every_tab_stands_the_extremes(query, tab, lang, caplog):
    app = page(query | {"by": "feature", "who": "feature", "times": query.get("times", "-3")}, lang, tab)
    assert_whole(app, caplog)
    assert not app.warning


def test_a_place_outside_the_batch_and_too_many_tokens_are_told():
    app = page({"tokens": "3", "row": "9", "col": "7"})
    assert "Token 9, feature 7 is outside this batch of 3 × 4; the place at token 3, feature 3" not in prose(
        app
    )
    assert "the place at token 3, feature 4 is used" in app.info[0].value
    assert link_of(app)["row"] == "9"
    assert "none of them outside row 3" in prose(app)
    app = page({"s": "a b c", "tokens": "8"})
    assert "Tokens in these sentences: 3." in app.info[0].value
    app = page({"s": "a b c d e f g h i j k l m n | o p q r s t u v w x y z"})
    assert "The sentences have 26 tokens. The page works with the first 24." in app.info[0].value
    long = " ".join("ab" for _ in range(28))
    app = page({"s": f"{long} | c d e", "tokens": "24"})
    assert app.info[0].value.count("tokens") == 1, "one long sentence is not told twice, with two numbers"
    assert "The sentences have 31 tokens. The page works with the first 24." in app.info[0].value


def test_what_is_forgotten_is_what_pytorch_forgets():
    app = page({"who": "token", "add": "3", "times": "2"}, tab="forget")
    x, changed = batch(), batch()
    changed[1] = 2 * changed[1] + 3
    old, new = by_pytorch(x), by_pytorch(changed)
    most = {kind: number(round(float(np.abs(new[kind] - old[kind]).max()), 7)) for kind in old}
    assert f"(at most by {most['layer']}), RMSNorm 4 (at most by {most['rms']}), BatchNorm 32" in prose(app)
    table = next(m.value for m in app.markdown if "One change at a time" in m.value)
    rows = [[cell.strip() for cell in line.split("|")[2:5]] for line in table.splitlines()[-6:]]
    for row, (who, add, times) in zip(
        rows, [(w, *c) for w in ("all", "token", "feature") for c in ((3, 1), (0, 2))], strict=True
    ):
        changed = batch()
        place = {"all": np.s_[:], "token": np.s_[1], "feature": np.s_[:, 2]}[who]
        changed[place] = times * changed[place] + add
        new = by_pytorch(changed)
        for cell, kind in zip(row, old, strict=True):
            expected = round(float(np.abs(new[kind] - old[kind]).max()), 7)
            assert float(cell.replace("×10⁻⁵", "e-5").replace("×10⁻⁶", "e-6").replace("×10⁻⁷", "e-7")) == pytest.approx(expected, rel=6e-3, abs=2e-7)  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "momentum", "size"), [(20, 0.1, 8), (3, 0.5, 2), (0, 0.1, 8), (100, 0.01, 64)]
)
def test_what_is_remembered_is_what_batch_norm_of_pytorch_remembers(seen, momentum, size):
    query = {"seen": str(seen), "momentum": str(momentum), "size": str(size), "scale": "2"}
    app = page(query, tab="running")
    module = nn.BatchNorm1d(4, momentum=momentum, dtype=DOUBLE).train()
    from core.block.toy_batch import random_batches  # the draws; what is made of them is PyTorch's

    for drawn in random_batches(7, 100, size, 4, 1.0, 2.0)[:seen]:
        module(drawn)
    mean, variance = module.running_mean[2].item(), module.running_var[2].item()
    assert (
        f"the remembered mean is {number(mean)} (true 1.00), the variance {number(variance)} (true 4.00)"
        in prose(app)
    )
    x = torch.stack([embedding(token, 7, 12)[:4] for token in TOKENS]) * 2 + 1
    x[1, 2] += 10
    with torch.no_grad():
        inference = module.eval()(x).numpy()
    gap = np.abs(inference - by_pytorch(x)["batch"]).max()
    assert f"differ from those in training by up to {number(float(gap))}:" in prose(app)
    assert f"{number(size / (size - 1))} times as much" in prose(app)


def test_one_token_in_training_and_in_inference():
    app = page({"tokens": "1", "beta": "0.5"}, tab="running")
    told = prose(app)
    assert "One token is too few for BatchNorm" in told
    assert "In training every output is β = 0.500, and PyTorch raises an error instead" in told
    code = prose(page({"tokens": "1", "beta": "0.5"}, tab="code"))
    assert "refuses it in training" in code
    assert "nn.BatchNorm1d` in training |" not in code


def test_padding_moves_batch_norm_only():
    app = page({"pads": "5"}, tab="padding")
    x = batch()
    padded = torch.cat([x, torch.zeros(5, 4, dtype=DOUBLE)])
    real, whole = by_pytorch(x), by_pytorch(padded)
    moved = number(float(np.abs(whole["batch"][:8] - real["batch"]).max()))
    assert f"averages over 13 rows where 8 are real. That moves the outputs of real tokens by up to {moved}; LayerNorm moves them by 0." in prose(app)  # fmt: skip


def test_epsilon_without_and_with():
    told = prose(page({"eps": "1", "spread": "0"}, tab="epsilon"))
    assert "| 2, 2, 2, 2 | NaN | 0 | 1.00 | 0.894 |" in told  # 2/√5
    assert "| 0, 0, 0, 0 | NaN | 0 | NaN | 0 |" in told
    assert f"at 1.00 it is {number(0.5**0.5)}." in told
    assert "stored as 0 and protects from nothing" in prose(page({"eps": "1e-12"}, tab="epsilon"))


def test_the_gradients_lose_their_directions_as_autograd_says():
    app = page({"eps": "0.1", "gamma": "2"}, tab="gradient")
    told = prose(app)
    from core.attention.toy import seeded

    g = torch.randn(8, 4, generator=seeded("norm gradient", 7), dtype=DOUBLE)
    lengths = {}
    for kind, make in (("layer", nn.LayerNorm), ("rms", nn.RMSNorm), ("batch", nn.BatchNorm1d)):
        module = make(4, eps=0.1, dtype=DOUBLE)
        with torch.no_grad():
            module.weight.fill_(2.0)
        x = batch().requires_grad_()
        (d_x,) = torch.autograd.grad((module(x) * g).sum(), x)
        lengths[kind] = number(d_x.norm().item())
        if kind == "layer":
            centred = batch() - batch().mean(1, keepdim=True)
            unit = centred / centred.norm(dim=1, keepdim=True)
            left = number(round((d_x * unit).sum(1).abs().max().item(), 7))
    assert f"{number(g.norm().item())} arrives; {lengths['layer']} leaves LayerNorm, {lengths['rms']} RMSNorm, {lengths['batch']} BatchNorm." in told  # fmt: skip
    assert f'at most before, {left} after. "Before"' in told


@pytest.mark.parametrize(
    ("name", "right", "told"),
    [
        ("shift", "rms", "0 in LayerNorm"),
        ("outlier", "column", "BatchNorm changed 8 of 32 outputs, LayerNorm 4."),
        ("alone", "level", "(β = 0)"),
        ("scale", "none", "in BatchNorm."),
    ],
)
def test_the_verdicts(name, right, told, caplog):
    app = page()
    app.button(key="normalization predict").click().run()
    app.button_group(key="normalization predict which").set_value(name).run()
    if "normalization predict.set_up" in [b.key for b in app.button]:
        app.button(key="normalization predict.set_up").click().run()
    app.radio(key=f"normalization predict guess {name}").set_value(right).run()
    app.button(key="normalization predict.show").click().run()
    assert_whole(app, caplog)
    words = Words("en", "normalization")
    assert app.success[0].value == f"Your guess was right: {words(f'predict.{name}.{right}')}."
    assert told in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("step", ["x", "layer", "rms", "batch"])
def test_a_batch_without_the_outlier_beside_this_one(step, lang, caplog):
    words = Words(lang, "normalization")
    app = page({"a": "outlier-0", "step": step}, lang)
    assert_whole(app, caplog)
    table = next(m.value for m in app.markdown if m.value.startswith(f"| {words('compare.number')}"))
    old, new = by_pytorch(batch(0.0))["batch"], by_pytorch(batch())["batch"]
    cells = (words("number.largest_batch"), *(number(float(np.abs(y).max())) for y in (old, new)))
    assert "| " + " | ".join(cells) + " |" in table
    assert {line.count("|") for line in table.splitlines()} == {5}  # a bar in a label would cut its cell
    # Another number of tokens has no difference cell by cell, and says so.
    assert_whole(page({"a": "tokens-3", "step": step}, lang), caplog)


@pytest.mark.parametrize(
    ("lang", "query"),
    [
        ("en", {}),
        ("zh", {"s": 'a\'b "c" \\', "tokens": "1", "d": "3", "eps": "1e-12", "gamma": "0.5"}),
        ("en", {"scale": "0", "shift": "-3.5", "eps": "1e-12", "outlier": "0"}),
    ],
)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(lang, query, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    files: dict = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: files.update({kind: make}))
    app = page(query, lang, "takeaway")
    assert not app.exception
    shown, computed = matrices(files["csv"]()), run(files["ipynb"](), tmp_path)
    assert set(shown) == set(computed) == {"x", "layer", "rms", "batch"}
    for name, values in shown.items():
        np.testing.assert_allclose(computed[name], values, rtol=0, atol=1e-12, err_msg=name)
