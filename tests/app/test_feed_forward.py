"""The feed-forward page: its words tell what PyTorch computes, and no sentence is false under any setting."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from torch import nn
from torch.nn import functional

from core.attention.toy_heads import toy_heads
from core.block.toy_feed_forward import toy_experts, toy_feed_forward, toy_swiglu, toy_tokens
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from ui.course.feed_forward import EXPERTS, GATED, GRADIENTS, ONE, STEPS
from ui.frame import takeaway
from ui.numbers import number
from ui.words import LANGUAGES, Words

STEM = "feed_forward"
TOKENS = ("the", "cat", "sat", "on", "the", "mat")
THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def opened(query: dict | None = None, tab: str = "", lang: str = "en"):
    return open_page(STEM, {"lang": lang} | {n: str(v) for n, v in (query or {}).items()}, tab=tab)


def modules(d: int, d_ff: int, seed: int = 7) -> tuple[nn.Linear, nn.Linear]:
    """PyTorch's two linear layers with the page's weights."""
    made = toy_feed_forward(seed, d, d_ff)
    up, down = nn.Linear(d, d_ff), nn.Linear(d_ff, d)
    for layer, weight, bias in ((up, made.w1, made.b1), (down, made.w2, made.b2)):
        layer.weight, layer.bias = nn.Parameter(weight.T.clone()), nn.Parameter(bias.clone())
    return up, down


@torch.no_grad()
def by_pytorch(tokens=TOKENS, d: int = 4, d_ff: int = 16, act: str = "relu") -> tuple[np.ndarray, ...]:
    """Before and after the activation, and the output."""
    up, down = modules(d, d_ff)
    before = up(toy_tokens(tokens, 7, d))
    hidden = THEIRS[act](before)
    return before.numpy(), hidden.numpy(), down(hidden).numpy()


@pytest.mark.parametrize("act", THEIRS)
@pytest.mark.parametrize(("d", "multiple"), [(4, 4), (8, 2)])
def test_the_words_tell_pytorchs_numbers(act, d, multiple):
    query = {"act": act, "d_model": d, "multiple": multiple}
    before, hidden, output = by_pytorch(d=d, d_ff=d * multiple, act=act)
    told = prose(opened(query | {"cell": "output.3.1"}))
    assert f"= {number(float(output[3, 1]))}\n" in told
    assert f"= {number(2 * d * d * multiple)} weights and {number(d * multiple + d)} biases" in told
    zeros, count = int((hidden == 0).sum()), hidden.size
    if act == "relu":
        assert f"sets {zeros} of {count} hidden numbers to 0" in told
        silent = int((hidden == 0).all(0).sum())
        assert f"0 for every token here: {silent} of {d * multiple}" in told
    else:
        assert f"Negative before: {int((before < 0).sum())} of {count}" in told
        assert f"The smallest after it is {number(float(hidden.min()))}" in told
    up, down = modules(d, d * multiple)
    with torch.no_grad():
        straight = down(up(toy_tokens(TOKENS, 7, d))).numpy()
    assert f"by up to {number(float(np.abs(straight - output).max()))}" in told
    cell = prose(opened(query | {"cell": "hidden.1.1"}))
    assert f"= {number(float(hidden[1, 1]))}\n" in cell


CELLS = {
    "": ("cell", [f"{name}.0.1" for name in STEPS]),
    "one": ("one_cell", [f"{name}.{row}.1" for name in ONE for row in (0, 1)]),
    "backward": ("grad_cell", [f"{name}.1.1" for name in GRADIENTS]),
    "swiglu": ("glu_cell", [f"{name}.1.1" for name in GATED]),
    "experts": ("moe_cell", [f"{name}.{row}.{c}" for name in EXPERTS for row, c in ((0, 0), (1, 0), (0, 1))]),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", CELLS)
def test_every_number_has_its_story(tab, lang, caplog):
    name, cells = CELLS[tab]
    settings = {"": {"act": "gelu"}, "one": {"sight": "causal"}, "experts": {"shared": 1}}.get(tab, {})
    for n, cell in enumerate(cells):
        more = {"backward": {"grad": ("one", "ones", "random")[n % 3]}, "experts": {}}.get(tab, {})
        app = opened(settings | more | {name: cell}, tab=tab, lang=lang)
        assert_whole(app, caplog)
        beyond = cell in ("load.1.0",)  # the sum over tokens has a single row
        assert len(lines_of_code(app)) == 1 + bool(tab) - beyond
        assert prose(app).count("$$") >= 2


@pytest.mark.parametrize("act", THEIRS)
@pytest.mark.parametrize("grad", ["one", "ones", "random"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_slope_and_start_has_its_story(act, grad, lang, caplog):
    for cell in ("slope.1.1", "g.1.0"):
        app = opened({"act": act, "grad": grad, "grad_cell": cell}, tab="backward", lang=lang)
        assert_whole(app, caplog)
        assert len(lines_of_code(app)) == 2


# One token changed


@torch.no_grad()
def test_only_the_replaced_token_moves_and_attention_carries_it_on():
    changed = ("the", "cat", "dog", "on", "the", "mat")
    own = np.linalg.norm(by_pytorch(changed)[2] - by_pytorch()[2], axis=1)
    assert (own > 0).tolist() == [False, False, True, False, False, False]
    x, ours = toy_heads(TOKENS, 7, 4, 1)
    layer = nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=torch.float64)
    layer.in_proj_weight.copy_(torch.cat([ours.w_q.weight, ours.w_k.weight, ours.w_v.weight]))
    layer.out_proj.weight.copy_(ours.w_o.weight)
    new = toy_tokens(changed, 7, 4)
    blocked = torch.ones(6, 6, dtype=torch.bool).triu(1)
    for sight, mask, noticed in (("none", None, [0, 1, 3, 4, 5]), ("causal", blocked, [3, 4, 5])):
        after, before = (layer(h[None], h[None], h[None], attn_mask=mask)[0][0] for h in (new, x))
        moved = (after - before).norm(dim=1)
        assert [i for i in range(6) if i != 2 and moved[i] > 1e-12] == noticed
        told = prose(opened({"at": 3, "sight": sight}, tab="one"))
        assert f"by a length of {number(own[2])}" in told
        assert f"others that notice, {len(noticed)} of 5" in told
        assert f"has length {number(moved[noticed].max().item())}" in told
        assert f"token itself it is {number(moved[2].item())}" in told


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"word": "dog house"}, "of your text the first, ` dog `, is taken"),
        ({"word": "  "}, "There is no text to read"),
        ({"at": 24}, "There is no token 24; the last one, 6, is replaced."),
        ({"word": "$x$"}, "of your text the first, ` $ `, is taken"),
    ],
)
def test_bad_input_to_the_replacement_is_told(query, told, caplog):
    app = opened(query, tab="one")
    assert_whole(app, caplog)
    assert told in " ".join(i.value for i in app.info)


def test_the_same_word_again_changes_nothing():
    told = prose(opened({"word": "cat"}, tab="one"))
    assert "so nothing changes in any of the 6 rows" in told
    assert "others that notice" not in told


# Activations


@pytest.mark.parametrize("z", [-2.3, 0.0, 1.7])
def test_the_table_of_activations_is_pytorchs(z):
    told = prose(opened({"z": z}, tab="curves"))
    at = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    for name, theirs in THEIRS.items():
        value = theirs(at)
        slope = torch.autograd.grad(value, at)[0].item()
        label = Words("en", STEM)(f"choice.act.{name}")
        row = next(line for line in told.splitlines() if re.match(rf"\| \**{re.escape(label)}\** \|", line))
        assert [c.strip() for c in row.split("|")][3:5] == [number(value.item()), number(slope)]
    assert "GELU falls to −0.170 at z = −0.752 and SiLU to −0.278 at z = −1.28" in told
    side = "At z = 0" if z == 0 else "Left of 0" if z < 0 else "Right of 0"
    assert f"**{side}" in told


# SwiGLU and sizes


@torch.no_grad()
def test_swiglu_is_that_of_three_linear_layers():
    x = toy_tokens(TOKENS, 7, 4)
    w1, w3, w2 = toy_swiglu(7, 4, 10)
    theirs = functional.linear(functional.silu(functional.linear(x, w1.T)) * functional.linear(x, w3.T), w2.T)
    told = prose(opened({"glu_cell": "glu_output.2.1"}, tab="swiglu"))
    assert f"= {number(theirs[2, 1].item())}\n" in told
    assert (
        "cut to 10 units: 120 weights in three matrices, where a plain layer with d_ff = 16 has 128" in told
    )


@pytest.mark.parametrize(
    ("wide", "multiple", "rows"),
    [
        (4096, 256, ["10,922 | 134,209,536", "11,008 | 135,266,304"]),  # LLaMA-2 7B
        (512, 1, ["2,048 | 2,097,152 | 100 %", "1,365 | 2,096,640"]),
        (8192, 256, ["21,845 | 536,862,720", "22,016 | 541,065,216"]),
    ],
)
def test_the_rule_of_eight_thirds(wide, multiple, rows):
    told = prose(opened({"wide": wide, "round": multiple}, tab="swiglu"))
    for row in rows:
        assert f"| {row}" in told
    assert ("rounded up to" in told) == (multiple > 1)


def test_the_published_mixtures():
    told = prose(opened({"own_experts": 8, "own_k": 2}, tab="sizes"))
    rows = {line.split("|")[1].strip(" *"): line for line in told.splitlines() if line.startswith("| ")}
    assert rows["total"].count("46,702,792,704") == 2  # the reader's own is Mixtral itself
    assert rows["active"].count("12,879,925,248") == 2
    assert "671,026,404,352" in rows["total"]
    assert "36,625,603,584" in rows["active, input table not counted"]
    fewer = prose(opened({"own_experts": 1, "own_k": 16}, tab="sizes"))
    assert "With 1 expert and 1 at work" in fewer
    assert "Mixtral with 1 experts" not in fewer


# Experts


@torch.no_grad()
@pytest.mark.parametrize(
    ("experts", "k", "score"), [(8, 2, "softmax"), (4, 1, "softmax"), (16, 3, "sigmoid")]
)
def test_gates_loads_and_outputs_are_those_of_every_expert_on_every_token(experts, k, score):
    x, toy = toy_tokens(TOKENS, 7, 4), toy_experts(7, 4, experts, 10)
    logits = x @ toy.router
    scores = logits.softmax(-1) if score == "softmax" else logits.sigmoid()
    kept = functional.one_hot(scores.topk(k, -1).indices, experts).sum(1)
    gates = scores * kept / (scores * kept).sum(-1, keepdim=True)
    each = torch.stack(
        [
            functional.linear(functional.silu(functional.linear(x, a.T)) * functional.linear(x, c.T), b.T)
            for a, c, b in zip(toy.w1, toy.w3, toy.w2, strict=True)
        ]
    )
    output = torch.einsum("te,etd->td", gates, each)
    load, best = kept.sum(0), int(gates[1].argmax())
    query = {"experts": experts, "k": k, "score": score}
    told = prose(opened(query | {"moe_cell": "mix.1.2"}, tab="experts"))
    assert f"= {number(output[1, 2].item())}\n" in told
    assert (
        f"Expert {int(load.argmax()) + 1} has {int(load.max())}; experts without work: {int((load == 0).sum())}"
        in told
    )
    told = prose(opened(query | {"moe_cell": f"gates.1.{best}"}, tab="experts"))
    assert f"= {number(gates[1, best].item())}\n" in told
    assert ("A single gate says nothing" in told) == (k == 1)


def test_more_experts_a_token_than_there_are_is_told():
    app = opened({"experts": 2, "k": 8}, tab="experts")
    assert "There are only 2 experts, so k = 8 means all of them." in app.info[0].value
    assert "With k = 2 every expert works on every token" in prose(app)
    assert link_of(app)["k"] == "8"


def test_balancing_is_told_as_plain_steps_give_it():
    app = opened({"batch": 2, "alpha": 0, "speed": 0.05}, tab="balance")
    told = prose(app)
    # After one step every bias is one speed from 0, and the next step leads to 0 or to two speeds.
    steps = re.findall(r"\\leftarrow (−?)0\.0500 ([+−]) 0\.0500 = (0|−?0\.100)\n", told)
    assert len(steps) == 2
    assert steps[0][1] == "−"
    assert steps[1][1] == "+"
    # With α = 0 the loss does nothing: it ends as uneven as without.
    uneven, loss = re.search(r"loads: ([\d.]+) without balancing, ([\d.]+) with the loss", told).groups()
    assert uneven == loss
    assert "The loss is off (α = 0)" in told
    assert "logits and gates stay as they are (moved by 0)" in told


@pytest.mark.parametrize(("alpha", "speed"), [(0, 0), (0, 0.02), (0.5, 0), (0.5, 0.02)])
def test_a_way_of_balancing_that_is_off_does_not_claim_to_act(alpha, speed):
    told = prose(opened({"alpha": alpha, "speed": speed}, tab="balance"))
    assert ("The loss changes the logits themselves" in told) == ("presses most" in told) == (alpha > 0)
    assert ("is held back" in told) == (speed > 0)
    assert ("The bias is off (γ = 0)" in told) == (speed == 0)


def test_the_gates_have_the_shape_of_the_line_that_makes_them():
    app = opened({"experts": 16, "k": 3, "moe_cell": "gates.1.0"}, tab="experts")
    assert "has shape 6 × 3; the line that made it" in prose(app)  # [..., k], not one for each of 16 experts
    assert (
        "The same router on a larger batch:** 512 random tokens, each sent to 3 experts. Dashed: the even load, 96."
        in prose(app)
    )


@pytest.mark.parametrize("word", ["dog", "mat", "sun", "we"])
def test_a_number_after_a_minus_is_in_brackets_only_if_it_is_negative(word):
    for cell in ("x_change.1.0", "ffn_change.1.1", "att_change.4.3", "att_change.1.2", "ffn_change.1.3"):
        told = prose(opened({"word": word, "one_cell": cell}, tab="one"))
        story = next(line for line in told.splitlines() if re.search(r"_\{?.* - .* = .* - ", line))
        assert re.search(r"= \S+ - (\d\S*|\(−\S+\)) = \S+$", story), story


def test_balancing_everything_is_nothing():
    told = prose(opened({"experts": 2, "k": 2}, tab="balance"))
    assert "The load is even from the start (above even: 0)" in told


# The shared parts


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "query", [{}, {"act": "gelu_tanh", "d_model": 16, "tokens": 1}, {"act": "silu", "multiple": 1}]
)
def test_the_checks_hold(query, lang, caplog):
    app = opened(query, tab="code", lang=lang)
    assert_whole(app, caplog)
    assert not app.warning
    assert "nn.Linear" in prose(app)


@pytest.mark.parametrize(
    "query", [{"act": "gelu", "d_model": 8}, {"s": "我爱学习", "seed": 3, "multiple": 2}]
)
@pytest.mark.parametrize("lang", ["zh"])
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(query, lang, monkeypatch, tmp_path):
    made: dict = {}
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: made.update({kind: make}))
    opened(query, tab="takeaway", lang=lang)
    notebook = nbformat.reads(made["ipynb"]().decode(), as_version=4)
    nbformat.validate(notebook)
    notebook.cells.append(nbformat.v4.new_code_cell("print(trace.output.tolist())"))
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, startup_timeout=600, resources=where).execute()
    output = np.array(eval(notebook.cells[-1].outputs[0].text))
    d, multiple, act = query.get("d_model", 4), query.get("multiple", 4), query.get("act", "relu")
    if "s" in query:
        made_here = toy_feed_forward(3, d, d * multiple)
        hidden = functional.relu(toy_tokens(tuple(query["s"]), 3, d) @ made_here.w1 + made_here.b1)
        expected = (hidden @ made_here.w2 + made_here.b2).numpy()
    else:
        expected = by_pytorch(d=d, d_ff=d * multiple, act=act)[2]
    np.testing.assert_allclose(output, expected, atol=1e-12)


ANSWERS = {"zeros": "none", "neighbours": "own", "width": "four"}
TOLD = {
    "zeros": "under ReLU: 53 of 96; under GELU: 0.",
    "neighbours": "Rows that changed: 1 of 6. After one head of attention without a mask, with the same change, it would be 6 of 6.",
    "width": "128 weights with d_model 4 and d_ff 16, 512 with 8 and 32.",
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_verdicts(name, lang, caplog):
    app = opened({"act": "silu"} if name == "zeros" else {}, lang=lang)
    app.button(key=f"{STEM} predict").click().run()
    app.button_group(key=f"{STEM} predict which").set_value(name).run()
    if f"{STEM} predict.set_up" in [b.key for b in app.button]:
        app.button(key=f"{STEM} predict.set_up").click().run()
    app.radio(key=f"{STEM} predict guess {name}").set_value(ANSWERS[name]).run()
    app.button(key=f"{STEM} predict.show").click().run()
    assert_whole(app, caplog)
    assert len(app.success) == 1
    if lang == "en":
        assert TOLD[name] in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("step", STEPS)
def test_gelu_beside_relu(step, lang, caplog):
    pinned = "s-the cat sat on the mat~tokens-6~d_model-4~multiple-4~act-relu~seed-7"
    app = opened({"a": pinned, "act": "gelu", "step": step}, lang=lang)
    assert_whole(app, caplog)
    words = Words(lang, STEM)
    table = next(m.value for m in app.markdown if m.value.startswith(f"| {words('compare.number')}"))
    assert f"| {words('number.zeros')} | 53 | 0 |" in table
