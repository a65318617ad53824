"""The experiments under the attention page: every tab whole in both languages, its words true to the numbers."""

import functools
import json
import math

import pytest
import torch

from core.attention.masks import causal
from core.attention.toy import seeded, toy_inputs
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from ui import course
from ui.numbers import number
from ui.parameters import Text
from ui.words import LANGUAGES, Words

SENTENCE = ("the", "cat", "sat", "on", "the", "mat")
PREFIXES = {
    "rows": ("row_",),
    "saturation": ("sat_",),
    "backward": ("grad", "draw"),
    "order": ("order", "draw"),
    "dropout": ("drop_", "draw"),
}


def open_tab(tab: str, query: dict[str, str] | None = None, lang: str = "en"):
    app = open_page("attention", {"lang": lang} | (query or {}))
    app.session_state["attention open tab"] = tab
    return app.run()


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def charts(app) -> list[dict]:
    return [json.loads(e.proto.spec) for e in app.get("vega_lite_chart")]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", PREFIXES)
def test_a_tab_is_whole_and_leaves_a_complete_link(tab, lang, caplog):
    app = open_tab(tab, lang=lang)
    assert_whole(app, caplog)
    words = Words(lang, "attention")
    assert prose(app).count(f"## {words('notice.title')}") == 2
    assert {p.name for p in course.PAGES["attention"].parameters} <= link_of(app).keys()
    for chart in charts(app):
        titles = {layer["encoding"].get("y", {}).get("title") for layer in chart["layer"]} - {None}
        assert titles <= set(words.table("sat.axis").values()) | set(words.table("rows.axis").values()) | set(
            words.table("drop.axis").values()
        )


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", PREFIXES)
def test_a_tab_stands_both_ends_of_its_parameters_and_of_the_pages(tab, lang, caplog):
    app = open_tab(tab, lang=lang)
    page = course.PAGES["attention"]
    own = [p for p in page.parameters if p.name.startswith(PREFIXES[tab])]
    assert own
    shared = [
        p for p in page.parameters if p.name in ("tokens", "dk", "tau", "scaled", "mask", "window", "pad")
    ]
    for parameter in (*own, *shared):
        for value in parameter.ends():
            text = value if isinstance(parameter, Text) else parameter.write(value)
            visit(app, {"lang": lang, parameter.name: text})
            assert_whole(app, caplog)
            assert link_of(app)[parameter.name] == parameter.write(value)


def visit(app, query: dict[str, str]) -> None:
    app.query_params.clear()
    for name, value in query.items():
        app.query_params[name] = value
    app.run()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", PREFIXES)
@pytest.mark.parametrize(
    "query", [{"mask": "padding", "pad": "24"}, {"tokens": "1", "dk": "1"}, {"tokens": "24", "s": "词" * 24}]
)
def test_a_tab_stands_nothing_to_look_at_one_token_and_many(tab, lang, query, caplog):
    assert_whole(open_tab(tab, query, lang), caplog)


@functools.cache
def inputs():
    toy = toy_inputs(SENTENCE, 7, 8)
    return toy.q, toy.k, toy.v


def weights(mask=None):
    q, k, _ = inputs()
    scores = q @ k.T / math.sqrt(8)
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), -1)


def test_two_queries_say_what_their_rows_say():
    a, b = weights(causal(6))[1], weights(causal(6))[4]
    story = prose(open_tab("rows", {"row_a": "2", "row_b": "5"}))
    assert f"key {int(a.argmax()) + 1} ` {SENTENCE[a.argmax()]} ` ({number(a.max().item())})" in story
    assert f"have {number(torch.minimum(a, b).sum().item())} of their weight in common" in story
    entropy = torch.distributions.Categorical((a + b) / 2).entropy()
    assert f"spreads over {number(entropy.exp().item())} keys" in story
    assert "Both are query 2" in prose(open_tab("rows", {"row_a": "2", "row_b": "2"}))
    assert "Both are query 6" in prose(open_tab("rows", {"row_a": "24", "row_b": "6"}))


def test_saturation_says_what_a_plain_recomputation_says():
    generator = torch.Generator().manual_seed(7)
    q = torch.randn(100, 1024, 1, generator=generator, dtype=torch.float64)
    k = torch.randn(100, 16, 1024, generator=generator, dtype=torch.float64)
    largest = {}
    for d in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        a = torch.softmax((k[..., :d] @ q[:, :d]).squeeze(-1), -1)
        largest[d] = (a - a * a).max(-1).values.mean().item()
    at_3 = (k[..., :3] @ q[:, :3]).squeeze(-1)
    story = prose(open_tab("saturation", {"dk": "3"}))
    assert f"have a variance of {number(at_3.var(-1).mean().item())}, where theory says 3." in story
    assert f"it is {number((at_3 / math.sqrt(3)).var(-1).mean().item())}, where theory says 1." in story
    peak = max(largest, key=largest.get)
    assert peak == 8  # it rises before it falls, and the words must say so
    assert f"It is {number(largest[1])} at d_k = 1, highest at d_k = 8 with {number(largest[8])}" in story
    assert f"and {number(largest[1024])} at 1,024" in story
    entropy = torch.distributions.Categorical(a).entropy().mean().item()
    assert (
        f"spreads over {number(math.exp(entropy))} of its 16 keys (entropy {number(entropy)} nats)" in story
    )
    assert "falls from" in prose(open_tab("saturation", {"sat_keys": "2"}))


def test_the_backward_pass_agrees_with_an_autograd_of_our_own():
    q, k, v = (x.clone().requires_grad_() for x in inputs())
    scaled = q @ k.T / math.sqrt(8)
    scaled.retain_grad()
    a = torch.softmax(scaled.masked_fill(~causal(6), -torch.inf), -1)
    target = torch.cat([v[:1], v[:-1]]).detach()
    loss = ((a @ v - target) ** 2).sum() / 2
    loss.backward()
    story = prose(open_tab("backward", {"grad": "target", "grad_cell": "ds.3.2"}))
    assert f"L = ½ Σ(O − Y)² = {number(loss.item())}" in story
    assert (
        f"right dS is {number(scaled.grad.abs().max().item())}, and the two differ by up to {number(scaled.grad.abs().max().item())}"
        in story
    )
    assert f"= {number(scaled.grad[3, 2].item())}\n" in story
    lowest = [i for i in range(1, 6) if scaled.grad[i, i - 1] <= scaled.grad[i].min() + 1e-12]
    assert "other keys too: 5. Rows among them" in story
    assert f"lowest dS, below 0: {len(lowest)}." in story
    for name, grad in (("dq", q.grad), ("dk", k.grad), ("dv", v.grad)):
        told = prose(open_tab("backward", {"grad": "target", "grad_cell": f"{name}.2.1"}))
        assert f"= {number(grad[2, 1].item())}\n" in told


@pytest.mark.parametrize("kind", ["target", "one", "ones", "random"])
def test_the_table_finds_no_difference_from_autograd(kind):
    told = prose(open_tab("backward", {"grad": kind}))
    rows = [line for line in told.splitlines() if line.startswith("| d")]
    differences = [line.split("|")[4].strip() for line in rows]
    assert len(differences) == 5
    assert all(text == "0" or "×10⁻¹" in text for text in differences), differences


def test_one_output_number_reaches_only_what_its_query_sees():
    story = prose(open_tab("backward", {"grad": "one", "grad_row": "3", "grad_col": "2"}))
    assert "at query 3 ` sat `, component 2" in story
    assert "In dQ only the row of this query is not zero" in story
    assert "3 rows of dK and 3 of dV" in story


def test_rows_without_a_key_give_zeros_in_the_backward_pass():
    story = prose(open_tab("backward", {"mask": "padding", "pad": "24", "grad_cell": "ds.0.0"}))
    assert "6 of the queries have no key" in story
    assert "NaN" not in story.replace("they would be NaN", "").replace("would give NaN", "").replace(
        "which is NaN", ""
    )


@pytest.mark.parametrize(
    "cell",
    [
        "g.1.1",
        "weights.3.0",
        "v.0.0",
        "k.0.0",
        "q.0.0",
        "dv.2.1",
        "da.3.1",
        "jac.1.1",
        "jac.0.1",
        "ds.3.1",
        "dq.1.1",
        "dk.1.1",
    ],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_gradient_has_its_story(cell, lang, caplog):
    app = open_tab("backward", {"grad_cell": cell}, lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2  # one line for the page's number, one for this
    name, row, column = cell.split(".")
    if name == "jac":
        a = weights(causal(6))[3]
        expected = (torch.diag(a) - torch.outer(a, a))[int(row), int(column)].item()
        assert f"= {number(expected)}\n" in prose(app)


def reversed_deviation(mask):
    q, k, v = (x.flip(0) for x in inputs())
    bias = (
        torch.zeros(6, 6, dtype=torch.float64)
        if mask is None
        else torch.zeros(6, 6).double().masked_fill(~mask, -torch.inf)
    )
    there = torch.nn.functional.scaled_dot_product_attention(*inputs(), attn_mask=bias)
    back = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias).flip(0)
    return (back - there).abs().max().item()


def test_the_order_shows_under_a_causal_mask_and_not_without_one():
    shown = prose(open_tab("order", {"order": "reverse"}))
    assert "New order (6 tokens): ` 6 5 4 3 2 1 `" in shown
    assert "The order shows, through the mask (Causal) alone" in shown
    assert f"the outputs by up to {number(reversed_deviation(causal(6)))}" in shown
    assert f"its weight on itself was {number(weights(causal(6))[5, 5].item())} and is 1.00" in shown
    invisible = prose(open_tab("order", {"order": "reverse", "mask": "none"}))
    assert "The order is invisible" in invisible
    assert reversed_deviation(None) < 1e-14
    assert "which is rounding" in invisible


def test_an_order_of_ones_own_is_completed_and_told():
    app = open_tab("order", {"order": "own", "order_own": "3, 1"})
    assert "tokens): ` 3 1 2 4 5 6 `" in prose(app)
    assert not app.info
    app.text_input(key="attention.order_own").set_value("9 2 2 x").run()
    assert "tokens): ` 2 1 3 4 5 6 `" in prose(app)
    assert "passed over" in app.info[0].value
    assert link_of(app)["order_own"] == "9 2 2 x"
    in_place = prose(open_tab("order", {"order": "own", "order_own": "1"}))
    assert "leaves every token in its place" in in_place


@pytest.mark.parametrize(
    "cell",
    [
        "w_before.4.1",
        "w_after.3.1",
        "w_back.4.1",
        "w_diff.4.1",
        "o_before.2.0",
        "o_after.0.0",
        "o_back.2.0",
        "o_diff.2.0",
    ],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_number_of_the_order_test_has_its_story(cell, lang, caplog):
    app = open_tab("order", {"order": "own", "order_own": "3 2 6 5 1 4", "order_cell": cell}, lang)
    assert_whole(app, caplog)
    if cell.startswith("w"):  # query 5 and key 2 stand at places 4 and 2
        order = [2, 1, 5, 4, 0, 3]
        q, k, _ = (x[order] for x in inputs())
        after = torch.softmax((q @ k.T / math.sqrt(8)).masked_fill(~causal(6), -torch.inf), -1)[3, 1].item()
        assert f"= {number(after)} - {number(weights(causal(6))[4, 1].item())} =" in prose(app)
    assert len(lines_of_code(app)) == 2
    made = {"after": "after = attention(", "before": "before = attention(", "back": "back = put_back("}
    stage = cell.split(".")[0].partition("_")[2]
    assert lines_of_code(app)[1].startswith(made.get(stage, "difference = back - before"))


def test_dropout_tells_its_sums_and_the_nan_it_would_make():
    app = open_tab("dropout", {"drop_p": "0.5", "drop_cell": "factors.1.1"})
    story = prose(app)
    factors = (
        torch.bernoulli(torch.full((6, 6), 0.5, dtype=torch.float64), generator=seeded("dropout", 1)) * 2
    )
    after = weights(causal(6)) * factors
    low, high = after.sum(-1).min().item(), after.sum(-1).max().item()
    assert f"sum to between {number(low)} and {number(high)}" in story
    assert (
        f"Weights above 1 here: {int((after > 1).sum())}; the largest is {number(after.max().item())}"
        in story
    )
    hit = (~causal(6) & (factors == 0)).numpy()
    assert hit.any()
    assert f"{hit.sum()} of the scores of −∞" in story
    assert "−∞ · 0 = NaN" in story
    assert f"NaN in {hit.any(1).sum()} of 6 rows" in story


def test_dropout_off_and_without_a_mask():
    assert "With p = 0 nothing is dropped" in prose(open_tab("dropout", {"drop_p": "0"}))
    assert "no score of −∞ meets a factor 0" in prose(open_tab("dropout", {"mask": "none"}))
    assert "nothing to drop" in prose(open_tab("dropout", {"mask": "padding", "pad": "24"}))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["weights.3.1", "factors.0.0", "factors.3.1", "after.3.1"])
def test_every_number_of_dropout_has_its_story(cell, lang, caplog):
    app = open_tab("dropout", {"drop_cell": cell}, lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2


@pytest.mark.parametrize(
    ("query", "silent"),
    [
        ({}, False),
        ({"mask": "window", "window": "1"}, True),  # softmax over one score has no gradient
        ({"s": "a a a a", "mask": "none"}, True),  # equal values: no weight changes the output
        ({"mask": "padding", "pad": "24"}, True),
        ({"grad": "one", "grad_row": "1"}, True),
        ({"grad": "one", "grad_row": "3"}, False),
    ],
)
def test_the_misprint_is_called_wrong_by_numbers_only_where_it_shows(query, silent):
    told = prose(open_tab("backward", query))
    assert ("goes unnoticed" in told) == silent
    assert ("that of the right dS is" in told) == (not silent)
