"""The page on masks: its words against masks counted here, drawing, the batch, and what PyTorch does with an empty row."""

import numpy as np
import pytest

from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui import course, matrix
from ui.frame import takeaway
from ui.parameters import Grid
from ui.words import LANGUAGES, Words

WORDS = Words("en", "masks")
GRID = Grid("drawn", 24)
WEIGHTS = [
    [1, 0, 0, 0],
    [0.4013, 0.5987, 0, 0],
    [0.2664, 0.2944, 0.4392, 0],
    [0.1913, 0.2011, 0.2223, 0.3853],
]


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def counted(rule, t: int) -> np.ndarray:
    """A mask from its rule, asked pair by pair."""
    return np.array([[bool(rule(i, j)) for j in range(t)] for i in range(t)])


def reached(mask: np.ndarray, layers: int) -> np.ndarray:
    step = (mask | np.eye(len(mask), dtype=bool)).astype(float)
    return np.linalg.matrix_power(step, layers) > 0


RULES = {
    "none": ({}, lambda i, j: True),
    "causal": ({}, lambda i, j: j <= i),
    "padding": ({}, lambda i, j: j < 19),
    "prefix": ({"prefix": "5"}, lambda i, j: j <= i or j < 5),
    "window": ({"window": "4"}, lambda i, j: 0 <= i - j < 4),
    "dilated": ({"window": "4", "dilation": "3"}, lambda i, j: i - j in (0, 3, 6, 9)),
    "longformer": ({"window": "5", "globals": "2"}, lambda i, j: abs(i - j) <= 2 or i < 2 or j < 2),
    "strided": ({"stride": "4"}, lambda i, j: 0 <= i - j < 4 or (j <= i and (i - j) % 4 == 0)),
    "fixed": ({"stride": "4"}, lambda i, j: j <= i and (i // 4 == j // 4 or j % 4 == 3)),
    "drawn": ({"drawn": GRID.code(np.tri(24, k=1))}, lambda i, j: j <= i + 1),
}


TAKING = {"lang": "en", "text": "four", "sentence": "1", "tokens": "22", "window": "4", "stride": "4"}


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("layers", [1, 3])
def test_kept_pairs_and_reach_are_those_counted_here(kind, layers, caplog):
    settings, rule = RULES[kind]
    query = {
        "lang": "en",
        "text": "four",
        "sentence": "1",
        "tokens": "22",
        "mask": kind,
        "also": "none",
        "layers": str(layers),
    }
    app = open_page("masks", query | settings)
    assert_whole(app, caplog)
    mask = counted(rule, 22)
    assert f"keeps {mask.sum()} of 484 pairs, {100 * mask.sum() / 484:.3g} % of T²" in prose(app)
    most = int(reached(mask, layers)[:19].sum(-1).max())  # over the real queries
    story = prose(app)
    assert (
        f"Counted here: {most}," in story
        or f"up to {most} of 22" in story
        or f"at most {most} of 22" in story
        or (f"counted: {most} of 22" in story and reached(mask, layers).all())
    )


def test_two_masks_keep_what_both_keep():
    query = TAKING | {"mask": "causal", "also": "padding"}
    both = counted(lambda i, j: j <= i and j < 19, 22)
    assert f"keeps {both.sum()} of 484 pairs" in prose(open_page("masks", query))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("window", "padding", ("Sliding window", "Padding")),
        ("padding", "strided", ("Padding", "Strided")),
        ("causal", "longformer", ("Causal", "Longformer")),
    ],
)
def test_two_masks_are_also_counted_one_by_one(first, second, names):
    rules = {kind: rule for kind, (_, rule) in RULES.items()} | {
        "longformer": lambda i, j: abs(i - j) <= 2 or i == 0 or j == 0
    }
    kept = [counted(rules[kind], 22).sum() for kind in (first, second)]
    told = prose(open_page("masks", TAKING | {"mask": first, "also": second}))
    assert f"Alone, “{names[0]}” keeps {kept[0]} and “{names[1]}” keeps {kept[1]}." in told


@pytest.mark.parametrize("pair", [("none", "causal"), ("causal", "none"), ("causal", "causal")])
def test_one_mask_is_told_the_same_wherever_it_is_chosen(pair):
    told = prose(open_page("masks", TAKING | dict(zip(("mask", "also"), pair, strict=True))))
    assert "keeps 253 of 484 pairs, 52.3 % of T². A causal mask keeps T(T + 1)/2 pairs" in told


@pytest.mark.parametrize("pair", [("padding", "window"), ("none", "window"), ("window", "window")])
def test_the_formula_of_a_window_does_not_depend_on_where_it_is_chosen(pair):
    query = TAKING | {"layers": "3"} | dict(zip(("mask", "also"), pair, strict=True))
    app = open_page("masks", query, tab="reach")
    assert "L(w − 1) + 1 = 10 tokens. Counted here: 10" in prose(app)
    assert "| L(w − 1) + 1 | 4 | 7 | 10 |" in prose(app)


def test_what_padding_hears_is_not_counted_as_reach():
    # 我爱学习 and three positions of padding: the last real token has been reached by four, the padding by more.
    query = {"lang": "en", "sentence": "3", "window": "3", "layers": "2"}
    mask = counted(lambda i, j: 0 <= i - j < 3 and j < 4, 7)
    real = reached(mask, 2)[:4].sum(-1)
    assert (real.max(), reached(mask, 2).sum(-1).max()) == (4, 5)
    app = open_page("masks", query, tab="reach")
    assert "= 5 tokens. Counted here: 4, for token 4 ` 习 `. The sentence ends before the formula" in prose(
        app
    )
    assert f"{100 * reached(mask, 12).sum() / 49:.3g} % of all pairs are connected" in prose(app)


def test_two_patterns_at_once_have_no_formula():
    query = TAKING | {"mask": "window", "also": "dilated", "layers": "3"}
    assert "L(w − 1) + 1 =" not in prose(open_page("masks", query))


def test_the_first_view_has_padding_to_hide():
    told = prose(open_page("masks", {"lang": "en"}))
    assert "1 position is padding; real tokens: 6. No real query gives the padding any weight." in told
    assert "6 ` mat ` ← 4 ` on ` ← 2 ` cat `" in told


def test_formula_and_count_stand_side_by_side():
    told = prose(open_page("masks", {"lang": "en", "text": "four", "window": "4", "layers": "3"}))
    assert "L(w − 1) + 1 = 10 tokens. Counted here: 10" in told
    assert "Formula and count agree" in told
    told = prose(open_page("masks", {"lang": "en", "text": "four", "window": "9", "layers": "3"}))
    assert "= 25 tokens. Counted here: 16" in told
    assert "ends before the formula" in told


def test_the_worked_example_has_its_published_weights():
    for i, row in enumerate(WEIGHTS):
        for j in range(i + 1):
            query = {
                "lang": "en",
                "text": "worked",
                "mask": "causal",
                "also": "none",
                "cell": f"weights.{i}.{j}",
            }
            told = prose(open_page("masks", query)).partition("## What")[0]
            value = float(told.rsplit("$$", 2)[-2].rsplit("= ", 1)[1])
            assert value == pytest.approx(row[j], abs=6e-4), (i, j)


@pytest.mark.parametrize("cell", ["scores.1.0", "mask.4.4", "mask.0.6", "weights.2.1", "weights.0.3"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_kind_of_number_has_its_story(cell, lang, caplog):
    app = open_page("masks", {"lang": lang, "cell": cell})
    assert_whole(app, caplog)
    assert len([m for m in app.markdown if Words(lang, "masks")("why.title") in m.value]) == 1
    assert "$$" in prose(app)


@pytest.mark.parametrize(
    ("cell", "layers", "told"),
    [
        ("reach.4.0", 2, "in layer 2 of 2"),
        ("reach.4.0", 1, "has not reached token 5"),
        ("reach.0.4", 2, "never reaches token 1"),
        ("reach.3.3", 2, "always has itself"),
    ],
)
def test_reach_is_told_as_a_path(cell, layers, told):
    app = open_page("masks", {"lang": "en", "sentence": "1", "cell": cell, "layers": str(layers)})
    assert told in prose(app)
    if cell == "reach.4.0":
        assert "5 ` cross ` ← 3 ` did ` ← 1 ` the `" in prose(app)


@pytest.mark.parametrize("kind", course.PAGES["masks"].parameter("mask").codes)
@pytest.mark.parametrize("cell", ["mask.4.4", "mask.0.6"])
def test_each_kind_says_why_a_pair_is_kept_or_hidden(kind, cell, caplog):
    query = {"mask": kind, "also": "none", "cell": cell, "sentence": "1", "globals": "0", "randoms": "0"}
    app = open_page("masks", {"lang": "en"} | query)
    assert_whole(app, caplog)
    kept = cell == "mask.4.4" or kind in ("none", "padding")
    start = "may look at key" if kept else "may not look at key"
    told = next(m.value for m in app.markdown if start in m.value)
    begin = WORDS(
        f"{'pass' if kept else 'reason'}.{kind}",
        **dict.fromkeys(
            ("i", "j", "window", "dilation", "length", "prefix", "stride", "half", "sides", "keys"), 0
        ),
    ).split("0")[-1]
    assert begin[-20:] in told


def test_padding_that_nothing_hides_is_told_and_cured():
    query = {"lang": "en", "sentence": "3", "mask": "none", "also": "none"}
    assert "leaves some of the padding visible" in prose(open_page("masks", query))
    assert "No real query gives the padding any weight" in prose(
        open_page("masks", query | {"also": "padding"})
    )


def test_what_the_positions_cut_off_is_shown(caplog):
    app = open_page("masks", {"lang": "en", "text": "four", "sentence": "1"}, tab="batch")
    assert_whole(app, caplog)
    (told,) = [info.value for info in app.info]
    assert "19 tokens for 16 positions" in told
    assert "` 健获利 `" in told
    table = next(m.value for m in app.markdown if m.value.startswith("| #"))
    assert all(lost in table for lost in ("健获利", "性能卓越", "提升自我价值", "未来光明可期"))
    assert not open_page("masks", {"lang": "en", "text": "four", "tokens": "22"}).info


@pytest.mark.parametrize(
    ("text", "lengths", "words"),
    [
        ("a b c | d", (3, 1), []),
        ("我爱学习｜a b", (4, 2), []),
        ("a|b|c|d|e f", (1, 1, 1, 1), ["5 sentences"]),
        ("| |", (7, 6, 4), ["example"]),
        ("", (7, 6, 4), ["example"]),
        ("x" * 5000, (1,), ["200 characters"]),
        ("**b** | $x$ | <i>", (5, 3, 3), []),
        ("word " * 30, (24,), ["30 tokens"]),
    ],
)
def test_any_batch_is_read_and_told(text, lengths, words, caplog):
    app = open_page("masks", {"lang": "en", "tokens": "24"}, tab="batch")
    app = app.text_input(key="masks.s").set_value(text).run()
    assert_whole(app, caplog)
    told = " ".join(info.value for info in app.info)
    assert all(word in told for word in words), told
    table = next(m.value for m in app.markdown if m.value.startswith("| #"))
    assert tuple(int(line.split("|")[3]) for line in table.splitlines()[2:]) == lengths


def test_padding_alone_leaves_the_future_open():
    told = prose(open_page("masks", {"lang": "en", "text": "worked"}, tab="batch"))
    scores = np.array(
        [[0.9, 0.3, 0.1, 0.05], [0.4, 0.8, 0.2, 0.1], [0.2, 0.3, 0.7, 0.25], [0.15, 0.2, 0.3, 0.85]]
    )
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    future = np.triu(weights, 1).sum(-1)
    assert f"gives the future {100 * future.mean():.3g} %" in told
    assert f"the first one {100 * future[0]:.3g} %" in told
    assert "6 pairs into the future stay open" in told


def test_an_empty_row_under_every_way():
    app = open_page("masks", {"lang": "en", "hide_row": "2", "hide_keep": "0"}, tab="hiding")
    table = next(m.value for m in app.markdown if m.value.startswith("| Way"))
    rows = {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:5]]
        for line in table.splitlines()[2:]
    }
    plain = np.exp([0.4, 0.8, 0.2, 0.1]) / np.exp([0.4, 0.8, 0.2, 0.1]).sum()
    softmax = " · ".join(f"{w:.3f}" for w in plain)
    even, zeros, nan = " · ".join(["0.250"] * 4), " · ".join("0000"), "**NaN** × 4"
    assert rows["add −∞"] == [nan] * 3
    assert rows["fill with −1e9"] == [even, even, "PyTorch refuses"]
    assert rows["add −1e9"][:2] == [softmax, even]
    assert rows["`scaled_dot_product_attention`"] == rows["this app: `masked_softmax`"] == [zeros] * 3
    assert rows["`nn.MultiheadAttention`"][0] == nan
    assert "overflow" in prose(app)


def test_with_keys_left_every_way_agrees():
    app = open_page("masks", {"lang": "en", "hide_row": "2", "hide_keep": "2"}, tab="hiding")
    table = next(m.value for m in app.markdown if m.value.startswith("| Way"))
    told = {line.split("|")[2].strip() for line in table.splitlines()[3:]}
    assert told == {"0.401 · 0.599 · 0 · 0"}


def test_true_means_two_things(caplog):
    app = open_page("masks", {"lang": "en", "mask": "causal", "also": "none"}, tab="conventions")
    assert_whole(app, caplog)
    told = prose(app)
    assert "the layer puts 100 % of a query's weight where it must not look" in told
    assert "become NaN: 1 with the mask, 0 with its negation" in told


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("function", "scaled_dot_product_attention(x, x, one_hot, attn_mask=mask)"),
        ("function_negated", "scaled_dot_product_attention(x, x, one_hot, attn_mask=~mask)"),
        ("layer", "mha(x, x, x, attn_mask=mask, need_weights=True)"),
        ("layer_negated", "mha(x, x, x, attn_mask=~mask, need_weights=True)"),
    ],
)
def test_each_convention_names_the_call_that_made_it(name, call):
    app = open_page("masks", {"lang": "en", "conv_cell": f"{name}.1.0"}, tab="conventions")
    assert call in lines_of_code(app)[-1]


@pytest.fixture
def clicks(monkeypatch):
    """`clicks(app, (0, 6), …)`: the page gets a report of these clicks from its picture, as the browser sends it."""
    pending, real = [], matrix.linked

    def linked(key, rows, *, on_change, **more):
        if key == "masks matrices" and pending:
            event = {"focus": "mask", "cell": None, "n": 1}
            event["toggled"] = [[1, "mask", *cell] for cell in pending]
            pending.clear()
            on_change(matrix._reported(rows, {"event": event})[1])
        return real(key, rows, on_change=on_change, **more)

    monkeypatch.setattr(matrix, "linked", linked)

    def report(app, *cells):
        pending.extend(cells)
        return app.run().run()

    return report


def test_a_drawn_mask_is_in_the_link_and_comes_back(clicks, caplog):
    app = open_page("masks", {"lang": "en", "draw": "1", "layers": "1", "also": "none"})
    link = link_of(clicks(app, (0, 6), (1, 1), (0, 6), (6, 0)))
    assert (link["mask"], link["also"]) == ("drawn", "none")
    wanted = counted(lambda i, j: 0 <= i - j < 3, 7)
    wanted[1, 1], wanted[6, 0] = False, True
    np.testing.assert_array_equal(GRID.cells(link["drawn"])[:7, :7], wanted)
    fresh = open_page("masks", link | {"lang": "zh", "cell": "mask.6.0"})
    assert_whole(fresh, caplog)
    assert not fresh.info
    assert link_of(fresh)["drawn"] == link["drawn"]
    assert "你打开了这一格" in prose(fresh)
    assert f"49 对里留下 {wanted.sum()} 对" in prose(fresh)


def test_without_draw_a_click_changes_no_mask(clicks):
    app = open_page("masks", {"lang": "en"})
    assert link_of(clicks(app, (0, 6)))["drawn"] == "none"


@pytest.mark.parametrize(
    ("name", "right", "numbers"),
    [
        ("window_layers", "nine", ["from 3 to 9"]),
        ("padding_future", "some", ["0 before"]),
        ("causal_layers", "same", ["28 with one layer, 28 with 6"]),
        ("window_length", "double", ["21 of 64 pairs before, 45 of 256 now"]),
    ],
)
def test_predictions_are_answered_by_what_was_counted(name, right, numbers, caplog):
    app = open_page("masks", {"lang": "en"})
    app.button(key="masks predict").click().run()
    app.button_group(key="masks predict which").set_value(name).run()
    app.button(key="masks predict.set_up").click().run()
    app.radio(key=f"masks predict guess {name}").set_value(right).run()
    app.button(key="masks predict.show").click().run()
    assert_whole(app, caplog)
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."
    assert all(text in prose(app) for text in numbers), prose(app)


def test_two_masks_are_compared(caplog):
    app = open_page("masks", {"lang": "en", "a": "mask-causal~also-none"})
    assert_whole(app, caplog)
    assert "**Mask**: Causal in A, Sliding window in B" in prose(app)
    table = next(m.value for m in app.markdown if m.value.startswith("| Number"))
    assert "| Pairs kept | 28 | 17 | −11 |" in table


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_check_against_pytorch_holds(lang, caplog):
    query = {"lang": lang, "mask": "bigbird", "randoms": "2", "layers": "3"}
    app = open_page("masks", query, tab="code")
    assert_whole(app, caplog)
    assert not app.warning
    assert "torch.linalg.matrix_power" in prose(app)


STATES = {
    "default": {},
    "worked": {"text": "worked", "mask": "causal", "also": "none"},
    "drawn": {"mask": "drawn", "also": "none", "drawn": GRID.code(np.tri(24, k=2)), "layers": "4"},
    "random": {
        "text": "four",
        "sentence": "2",
        "tokens": "22",
        "mask": "bigbird",
        "randoms": "3",
        "seed": "5",
    },
}


@pytest.mark.parametrize("state", STATES)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    open_page("masks", {"lang": "en"} | STATES[state], tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    assert set(shown) == set(made) == {"scores", "mask", "weights", "reach"}
    for name, values in shown.items():
        np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-12, err_msg=name)
