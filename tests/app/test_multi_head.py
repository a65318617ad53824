"""The multi-head page: its words tell what PyTorch's own layer computes, its controls never leave what divides."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from core.attention.toy_heads import toy_heads
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.course.multi_head import MAPS, OUTPUTS
from ui.figures.head_costs import MODELS
from ui.figures.multi_head import kv_heads
from ui.frame import takeaway
from ui.numbers import number
from ui.words import Words

TOKENS = ("the", "cat", "sat", "on", "the", "mat")


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def layer_and_input(d_model: int = 24, heads: int = 4, seed: int = 7):
    """nn.MultiheadAttention with the page's weights, filled by hand, and the page's input."""
    x, ours = toy_heads(TOKENS, seed, d_model, heads)
    layer = nn.MultiheadAttention(d_model, heads, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([ours.w_q.weight, ours.w_k.weight, ours.w_v.weight]))
        layer.out_proj.weight.copy_(ours.w_o.weight)
    return layer, x


@torch.no_grad()
def outputs(off: tuple[int, ...] = (), **more) -> tuple[np.ndarray, np.ndarray]:
    """Output and maps of PyTorch's layer under a causal mask; a head is off when its columns of W_O are 0."""
    layer, x = layer_and_input(**more)
    for head in off:
        layer.out_proj.weight[:, (head - 1) * layer.head_dim : head * layer.head_dim] = 0
    blocked = torch.ones(6, 6, dtype=torch.bool).triu(1)
    output, maps = layer(x[None], x[None], x[None], attn_mask=blocked, average_attn_weights=False)
    return output[0].numpy(), maps[0].numpy()


def test_a_switched_off_head_is_told_with_pytorchs_numbers(caplog):
    app = open_page("multi_head", {"lang": "en"}, tab="off")
    assert "All heads are on" in prose(app)
    app.button_group(key="multi_head.off").set_value(["2"]).run()
    assert_whole(app, caplog)
    assert link_of(app)["off"] == "2"
    whole, less = outputs()[0], outputs((2,))[0]
    norm, before = np.linalg.norm(less - whole), np.linalg.norm(whole)
    told = prose(app)
    assert (
        f"norm {number(norm)}, that is {number(100 * norm / before)} % of the output's {number(before)}"
        in told
    )
    assert "in 24 of 24 output features" in told
    assert f"= {number(float(less[3, 1] - whole[3, 1]))}\n" in told
    # Which head alone moves the output most, from four runs of PyTorch's layer.
    each = [np.linalg.norm(outputs((h,))[0] - whole) / before for h in range(1, 5)]
    assert f"Head {np.argmax(each) + 1} alone moves the output most ({number(100 * max(each))} %)" in told
    app.button_group(key="multi_head.off").set_value(["1", "2", "3", "4"]).run()
    assert_whole(app, caplog)
    assert "that is 100 % of the output's" in prose(app)


@pytest.mark.parametrize(("d_model", "heads"), [(24, 4), (48, 8), (96, 2)])
def test_likeness_and_entropy_are_those_of_pytorchs_maps(d_model, heads):
    app = open_page("multi_head", {"lang": "en", "d_model": str(d_model), "heads": str(heads)}, tab="alike")
    maps = outputs(d_model=d_model, heads=heads)[1]
    flat = maps.reshape(heads, -1)
    cosines = (flat @ flat.T) / np.outer(*[np.linalg.norm(flat, axis=1)] * 2)
    mean = cosines[np.triu_indices(heads, 1)].mean()
    entropy = -(maps * np.log(np.where(maps > 0, maps, 1))).sum(-1).mean(-1)
    told = prose(app)
    assert f"Mean cosine {number(mean)}: a property of this toy" in told
    assert f"Head {entropy.argmin() + 1} looks most narrowly ({number(entropy.min())} nats)" in told
    assert f"head {entropy.argmax() + 1} most widely ({number(entropy.max())} nats)" in told
    # An even causal map over 6 tokens has entropy mean(ln 1 … ln 6).
    assert f"would have {number(np.log(np.arange(1, 7)).mean())} nats" in told


def test_heads_at_a_lower_temperature_are_less_alike():
    def mean(tau: str) -> float:
        told = prose(open_page("multi_head", {"lang": "en", "tau": tau}))
        return float(re.search(r"mean cosine of ([\d.]+)", told)[1])

    assert mean("0.2") < mean("1") < mean("4")


@pytest.mark.parametrize(
    ("heads", "wanted", "used"),
    [
        (4, "all", 4),
        (4, "3", 2),
        (8, "3", 2),
        (6, "4", 3),
        (3, "4", 3),
        (2, "4", 2),
        (1, "2", 1),
        (8, "4", 4),
    ],
)
def test_key_value_heads_that_do_not_divide_are_replaced_and_told(heads, wanted, used, caplog):
    assert kv_heads(heads, wanted) == used
    app = open_page("multi_head", {"lang": "en", "heads": str(heads), "kv": wanted})
    assert_whole(app, caplog)
    told = " ".join(i.value for i in app.info)
    if wanted == "all" or int(wanted) == used:
        assert not told
    else:
        assert f"The page computes with {used}." in told
    assert link_of(app)["kv"] == wanted


@pytest.mark.parametrize("query", [{"heads": "5"}, {"d_model": "25"}, {"kv": "7"}, {"off": "9"}])
def test_a_number_that_is_not_offered_is_told(query, caplog):
    app = open_page("multi_head", {"lang": "en"} | query)
    assert_whole(app, caplog)
    assert "Allowed are" in app.info[0].value


def test_a_switch_of_a_head_that_is_not_there_is_kept_and_told():
    app = open_page("multi_head", {"lang": "en", "heads": "2", "off": "1.7"})
    assert "Head 7 is switched off but does not exist with 2 heads" in app.info[0].value
    assert "Switched off: head 1." in prose(app)
    assert link_of(app)["off"] == "1.7"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "cell", [f"{MAPS[1]}.3.1", f"{MAPS[0]}.0.3", f"{OUTPUTS[1]}.3.1", "concat.2.9", "w_o.23.0", "output.5.23"]
)
@pytest.mark.parametrize("off", ["none", "2"])
def test_every_kind_of_number_has_its_story(cell, lang, off, caplog):
    app = open_page("multi_head", {"lang": lang, "cell": cell, "kv": "2", "off": off})
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    assert "$$" in prose(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("tab", "name", "cells"),
    [
        ("off", "off_cell", ("before.3.1", "after.3.1", "change.3.1")),
        ("alike", "alike_cell", ("alike.0.3",)),
        ("trap", "trap_cell", ("right.1.2", "wrong.1.1", "right_output.0.1", "wrong_output.0.1")),
    ],
)
def test_every_number_of_the_experiments_has_its_story(tab, name, cells, lang, caplog):
    for cell in cells:
        for off in ("none", "1.2.3.4"):
            app = open_page("multi_head", {"lang": lang, name: cell, "off": off}, tab=tab)
            assert_whole(app, caplog)
            assert len(lines_of_code(app)) == 2


def test_the_story_of_an_output_is_a_sum_of_heads_equal_to_pytorchs():
    told = prose(open_page("multi_head", {"lang": "en", "cell": "output.3.1"}))
    assert f"= {number(float(outputs()[0][3, 1]))}\n" in told


@pytest.mark.parametrize(
    ("name", "kv", "size"),
    [
        ("LLaMA-2-7B", 32, 524_288),
        ("LLaMA-2-70B", 8, 327_680),
        ("LLaMA-3-8B", 8, 131_072),
        ("GPT-3", 96, 4_718_592),
    ],
)
def test_the_published_caches(name, kv, size):
    (model,) = [m for m in MODELS if m.name == name and m.kv_heads == kv]
    assert model.bytes_per_token == size
    assert f"| {size:,} |" in prose(open_page("multi_head", {"lang": "en"}, tab="cost"))


def test_the_costs_are_the_same_for_any_number_of_heads():
    told = prose(open_page("multi_head", {"lang": "zh", "d_model": "48", "heads": "3"}, tab="cost"))
    rows = [line.split("|")[3].strip(" *") for line in told.splitlines() if re.match(r"\| \**\d", line)]
    layer, _ = layer_and_input(48, 3)
    counted = sum(p.numel() for p in layer.parameters())
    assert rows[:6] == [f"{counted:,}"] * 6
    assert "每词元每层 576 个数" in told
    assert "32,768" in told
    assert "没有根据" in told


def test_batch_first_left_out_mixes_the_sentences():
    told = prose(open_page("multi_head", {"lang": "en"}, tab="trap"))
    layer, x = layer_and_input()
    batch = torch.stack([x, x.flip(0)])
    with torch.no_grad():
        right = layer(batch, batch, batch)[0]
        layer.batch_first = False
        wrong, weights = layer(batch, batch, batch)
    assert f"differ by up to {number((right - wrong).abs().max().item())}." in told
    assert f"{number(100 * weights[:, 0, 1].mean().item())} % of a token's weight" in told
    assert "with batch_first=True it moves by 0." in told


def term(weights: torch.Tensor, key: torch.Tensor, column: int) -> str:
    """What a key [d] adds to one number of an output, by PyTorch's layer: [h] weights, its value, its columns of W_O."""
    layer, _ = layer_and_input()
    value = (layer.in_proj_weight[48:] @ key).unflatten(0, (4, 6))  # [h, d_head]
    return number(float((weights[:, None] * value).flatten() @ layer.out_proj.weight[column]))


def test_the_numbers_of_the_trap_are_told_as_sums_of_pytorchs_terms():
    layer, x = layer_and_input()
    batch = torch.stack([x, x.flip(0)])
    with torch.no_grad():
        weights = layer(batch, batch, batch, average_attn_weights=False)[1]  # [B, H, T, T]
        layer.batch_first = False
        across = layer(batch, batch, batch, average_attn_weights=False)[1]  # [T, H, B, B]
        right = [term(weights[0, :, 2, j], x[j], 5) for j in range(6)]
        wrong = [term(across[2, :, 0, b], batch[b, 2], 5) for b in range(2)]
    stories = {
        "right_output.2.5": right,
        "wrong_output.2.5": wrong,
        "right.2.3": [number(float(w)) for w in weights[0, :, 2, 3]],
        "wrong.2.1": [number(float(w)) for w in across[2, :, 0, 1]],
    }
    for cell, terms in stories.items():
        told = prose(open_page("multi_head", {"lang": "en", "trap_cell": cell}, tab="trap"))
        assert " + ".join(terms).replace("+ −", "− ") in told, cell


@pytest.mark.parametrize(
    ("tab", "query", "line"),
    [
        ("alike", {}, "similarity = unit @ unit.mT"),
        ("off", {"off_cell": "change.3.1"}, "difference = after - before"),
        ("trap", {"trap_cell": "wrong.1.1"}, "right_heads.mean(1), wrong_heads.mean(1)"),
    ],
)
def test_the_line_of_code_is_the_one_that_made_the_number(tab, query, line):
    assert line in lines_of_code(open_page("multi_head", {"lang": "en"} | query, tab=tab))[-1]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "query", [{}, {"heads": "8", "kv": "2", "d_model": "96", "tau": "0.1"}, {"mask": "none"}]
)
def test_the_live_check_holds(lang, query, caplog):
    app = open_page("multi_head", {"lang": lang} | query, tab="code")
    app.session_state["multi_head code part"] = "numpy"
    app.run()
    assert_whole(app, caplog)
    assert not app.warning
    assert any("def multi_head_backward(" in code.value for code in app.code)
    told = prose(app)
    assert told.count("nn.MultiheadAttention") >= 2
    assert "K.transpose" not in told


def ask(name: str, **query):
    """The page with a question on the table and its start set up."""
    app = open_page("multi_head", {"lang": "en"} | query)
    app.button(key="multi_head predict").click().run()
    app.button_group(key="multi_head predict which").set_value(name).run()
    if "multi_head predict.set_up" in [b.key for b in app.button]:
        app.button(key="multi_head predict.set_up").click().run()
    return app


@pytest.mark.parametrize(
    ("name", "right", "told"),
    [
        ("count", "stays", "2,304 weights before, 2,304 after. The width of a head went from 3 to 24."),
        ("share", "eighth", "left 48 numbers in the cache, and now leaves 6."),
        ("mix", "all", "6 columns of Concat changed, and 24 of 24 columns of the output."),
    ],
)
def test_the_verdicts(name, right, told, caplog):
    app = ask(name)
    assert told not in prose(app)
    app.radio(key=f"multi_head predict guess {name}").set_value(right).run()
    app.button(key="multi_head predict.show").click().run()
    assert_whole(app, caplog)
    words = Words("en", "multi_head")
    assert app.success[0].value == f"Your guess was right: {words(f'predict.{name}.{right}')}."
    assert told in prose(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("step", ["a1", "a3", "o1", "concat", "w_o", "output"])
def test_another_number_of_heads_beside_four(step, lang, caplog):
    words = Words(lang, "multi_head")
    for heads in ("1", "8"):
        pinned = f"s-the cat sat on the mat~heads-{heads}~tokens-6"
        app = open_page("multi_head", {"lang": lang, "a": pinned, "step": step})
        assert_whole(app, caplog)
        table = next(m.value for m in app.markdown if m.value.startswith(f"| {words('compare.number')}"))
        assert f"| {words('number.parameters')} | 2,304 | 2,304 | 0 |" in table
        # A single head has no pair to be compared.
        assert (words("number.similarity") in table) == (heads == "8")


@pytest.mark.parametrize(
    "state",
    [{}, {"heads": "8", "kv": "2", "d_model": "96", "tau": "0.3", "off": "2.5"}, {"mask": "none", "heads": "1", "tokens": "1"}],
    ids=["default", "shared", "one"],
)  # fmt: skip
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    open_page("multi_head", {"lang": "en"} | state, tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    heads = int(state.get("heads", 4))
    names = {f"{kind}{h + 1}" for kind in "ao" for h in range(heads)} | {"x", "concat", "w_o", "output"}
    assert set(shown) == names <= set(made)
    for name, values in shown.items():
        np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-12, err_msg=name)
