"""The two maps say what the papers say, and nothing on them overlaps in either orientation."""

from itertools import combinations, pairwise, product

import pytest

from ui.course import PAGES
from ui.diagram import route
from ui.transformer_map import decoder_only, encoder_decoder
from ui.words import LANGUAGES, Words

TEXTS = {lang: Words(lang).table("map") for lang in LANGUAGES}
MAKERS = [decoder_only, encoder_decoder]
both = pytest.mark.parametrize("make", MAKERS)


def draw(make, shapes=True, lang="en", **more):
    return make(shapes, 4, 16, 512, 6, TEXTS[lang], **more)


def labels(diagram):
    return [edge.label for edge in diagram.edges]


def successors(diagram, node_id, styles):
    return [edge.target for edge in diagram.edges if edge.source == node_id and edge.style in styles]


def stream(diagram, start):
    """The nodes that the grey stream passes, in order."""
    path = [start]
    while following := successors(diagram, path[-1], {"residual"}):
        (only,) = following
        path.append(only)
    return [diagram.node(node_id).kind for node_id in path]


def test_pre_ln_leaves_the_stream_alone_until_the_final_norm():
    assert stream(draw(decoder_only), "embedding") == ["embed", "add", "tap", "add", "tap", "add", "norm"]


def test_post_ln_puts_a_norm_after_every_addition():
    diagram = draw(encoder_decoder)
    sub_layer = ["tap", "add", "norm"]
    assert stream(diagram, "encoder_embedding") == ["embed", "add", *sub_layer * 2]
    assert stream(diagram, "decoder_embedding") == ["embed", "add", *sub_layer * 3]


def test_pre_ln_normalises_the_copy_before_each_sub_layer():
    diagram = draw(decoder_only)
    for tap, first in (("tap_attention", "projection"), ("tap_ffn", "ffn_up")):
        (norm,) = successors(diagram, tap, {"flow"})
        assert diagram.node(norm).kind == "norm"
        assert successors(diagram, norm, {"flow"}) == [first]


def test_keys_and_values_come_from_the_encoders_output_and_queries_from_the_decoder():
    into = {
        edge.style: edge for edge in draw(encoder_decoder).edges if edge.target == "decoder_cross_attention"
    }
    assert into["cross"].source == "encoder_ffn_norm"
    assert into["cross"].label.startswith("K V ")
    assert into["query"].source == "decoder_cross_attention_tap"
    assert into["query"].label == "Q"
    assert set(into) == {"cross", "query"}


def test_shapes_follow_the_numbers():
    shown = labels(decoder_only(True, 2, 7, 96, 3, TEXTS["en"], heads=4, vocabulary=1000))
    for shape in (
        "[2, 7]",
        "[7, 96]",
        "[2, 7, 96]",
        "[7, 7]",
        "[2, 4, 7, 24]",
        "[2, 7, 384]",
        "[2, 7, 1000]",
    ):
        assert shape in shown
    assert any(label.endswith("[B, T, d] = [2, 7, 96]") for label in shown)


def test_source_and_target_have_their_own_lengths():
    diagram = encoder_decoder(True, 2, 7, 96, 3, TEXTS["en"], source_length=5, heads=4)
    at = {(edge.source, edge.target): edge.label for edge in diagram.edges}
    assert at["source", "encoder_embedding"] == "[2, 5]"
    assert at["target", "decoder_embedding"] == "[2, 7]"
    assert at["encoder_self_attention", "encoder_self_attention_add"] == "[2, 5, 96]"
    assert at["decoder_cross_attention", "decoder_cross_attention_add"] == "[2, 7, 96]"
    assert at["unembed", "softmax"] == "[2, 7, 37000]"


@both
def test_without_shapes_no_arrow_carries_a_number(make):
    assert not [label for label in labels(draw(make, shapes=False)) if "[" in label]


@both
def test_layers_are_counted_on_the_frames(make):
    assert {group.repeat for group in draw(make).groups if group.repeat} == {"× 6"}


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="3 heads"):
        draw(decoder_only, heads=3)


@both
def test_every_page_named_is_a_page_of_the_course(make):
    pages = {node.page for node in draw(make).nodes} - {""}
    assert pages <= PAGES.keys()
    assert {"tokens", "positions", "attention", "masks", "normalization", "residual", "feed_forward"} <= pages


@both
def test_pages_that_are_missing_are_marked(make):
    diagram = draw(make, stems={"attention"})
    assert {node.page for node in diagram.nodes if node.available} <= {"attention", ""}
    assert any(node.page == "attention" and node.available for node in diagram.nodes)


@both
def test_the_languages_differ_in_words_only(make):
    english, chinese = draw(make), draw(make, lang="zh")
    for one, other in zip(english.nodes, chinese.nodes, strict=True):
        assert (one.id, one.column, one.row, one.page) == (other.id, other.column, other.row, other.page)
    texts = [
        diagram.summary + "".join(n.label + n.note for n in diagram.nodes) for diagram in (english, chinese)
    ]
    assert texts[0] != texts[1]
    assert not any("{{" in text or "}}" in text for text in texts)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_words_are_all_there_and_all_used(lang):
    asked = {"hint", "not_built"}  # these two are the component's own

    class Asked(dict):
        def __getitem__(self, key):
            asked.add(key)
            return super().__getitem__(key)

    for make in MAKERS:
        make(True, 1, 1, 8, 1, Asked(TEXTS[lang]), heads=1)
    assert asked == TEXTS[lang].keys()


# How much of the grid a part covers, seen wide and seen turned by a quarter (static/diagram.js, measure).
def boxes(diagram, wide):
    for node in diagram.nodes:
        round_part = {"add": 0.36, "tap": 0.16}.get(node.kind)
        width = round_part or (0.84 * node.span if wide else 0.63 + 0.84 * (node.span - 1))
        height = round_part or (0.5 if wide else 0.9)
        yield (
            node,
            (node.column - width / 2, node.column + width / 2, node.row - height / 2, node.row + height / 2),
        )


@pytest.mark.parametrize(("make", "wide"), list(product(MAKERS, (True, False))))
def test_no_two_parts_overlap(make, wide):
    for (one, a), (other, b) in combinations(boxes(draw(make), wide), 2):
        apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
        assert apart, f"{one.id} lies on {other.id}"


@pytest.mark.parametrize(("make", "wide"), list(product(MAKERS, (True, False))))
def test_arrows_pass_through_no_part_but_their_ends(make, wide):
    diagram = draw(make)
    for edge in diagram.edges:
        points = route(diagram, edge)
        for node, (left, right, top, bottom) in boxes(diagram, wide):
            # The copy of the stream is a dot on the stream itself.
            if node.id in (edge.source, edge.target) or node.kind == "tap":
                continue
            for (x0, y0), (x1, y1) in pairwise(points):
                hit = (
                    min(x0, x1) < right and max(x0, x1) > left and min(y0, y1) < bottom and max(y0, y1) > top
                )
                assert not hit, f"{edge.source} → {edge.target} runs through {node.id}"


@both
def test_reading_order_never_jumps_back_within_a_lane(make):
    """A keyboard meets the parts along the computation: an arrow of the main flow goes forward in the list."""
    diagram = draw(make)
    order = {node.id: index for index, node in enumerate(diagram.nodes)}
    back = [
        (e.source, e.target) for e in diagram.edges if e.style != "loop" and order[e.source] > order[e.target]
    ]
    # What is added from the side is read right after the part it joins.
    assert set(back) <= {("mask", "attention")}
