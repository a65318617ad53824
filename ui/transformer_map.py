"""The whole Transformer as data for `ui.diagram`: the decoder-only model and the encoder-decoder of 2017.

Decoder-only is drawn as GPT-2 has it: learned positions, norm before each sub-layer, a final norm (Radford et al.
2019, section 2.3). The encoder-decoder is Vaswani et al. 2017, figure 1: norm after each addition, keys and values
of cross-attention from the encoder's output.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ui.diagram import Diagram, Edge, Group, Node, built
from ui.words import fill

GPT2_VOCABULARY = 50_257
VOCABULARY_2017 = 37_000


def decoder_only(
    shapes: bool,
    b: int,
    t: int,
    d: int,
    layers: int,
    words: Mapping[str, str],
    *,
    heads: int = 8,
    d_ff: int | None = None,
    vocabulary: int = GPT2_VOCABULARY,
    stems: Collection[str] | None = None,
) -> Diagram:
    """The decoder-only map for a batch of b sequences of t tokens, width d.

    `words` maps the keys of this module to translated strings, with {{name}} placeholders in notes and summaries;
    `stems` are the pages that exist (None: all). Raises ValueError if the heads do not divide d, KeyError for a
    missing word.
    """
    d_ff = d_ff or 4 * d
    say = _speaker(words, _sizes(d, layers, heads, d_ff))
    node = _node_maker(say)
    nodes = (
        node("tokens", 0, 2, "token", "tokens"),
        node("embedding", 1.05, 2, "embed", "tokens"),
        node("positions", 1.84, 1, "position", "positions"),
        node("add_positions", 1.84, 2, "add"),
        node("tap", 3.03, 2, "tap", name="tap_attention"),
        node("norm", 3.03, 1, "norm", "normalization", name="norm_attention", note="norm_pre_note"),
        node("projection", 3.03, 0, "projection", "linear_maps"),
        node("attention", 4.34, 0, "attention", "attention"),
        node("mask", 4.34, 1, "mask", "masks"),
        node("join", 5.45, 0, "projection", "multi_head"),
        node("add_attention", 5.45, 2, "add", "residual", note="add_note"),
        node("tap", 6.58, 2, "tap", name="tap_ffn"),
        node("norm", 6.58, 1, "norm", "normalization", name="norm_ffn", note="norm_pre_note"),
        node("ffn_up", 6.58, 0, "ffn", "feed_forward"),
        node("ffn_down", 7.8, 0, "ffn", "feed_forward"),
        node("add_ffn", 7.8, 2, "add", "residual", note="add_note"),
        node("final_norm", 8.88, 2, "norm", "normalization"),
        node("unembed", 9.91, 2, "output", "forward_pass"),
        node("loss", 9.91, 1, "output", "losses"),
        node("softmax", 10.94, 2, "output", "forward_pass"),
        node("next_token", 12.06, 2, "token", "forward_pass"),
    )
    show = _shape_writer(shapes)
    width = show(b, t, d)
    split = show(b, heads, t, d // heads)
    edges = (
        Edge("tokens", "embedding", show(b, t)),
        Edge("embedding", "add_positions", width, "residual"),
        Edge("positions", "add_positions", show(t, d)),
        Edge("add_positions", "tap_attention", style="residual"),
        Edge(
            "tap_attention",
            "add_attention",
            f"{say('stream')} [B, T, d] = {width}" if shapes else say("stream"),
            "residual",
        ),
        Edge("tap_attention", "norm_attention", width),
        Edge("norm_attention", "projection"),
        Edge("projection", "attention", "Q K V", "qkv"),
        Edge("mask", "attention", show(t, t)),
        Edge("attention", "join", split),
        Edge("join", "add_attention", width),
        Edge("add_attention", "tap_ffn", style="residual"),
        Edge("tap_ffn", "add_ffn", width, "residual"),
        Edge("tap_ffn", "norm_ffn", width),
        Edge("norm_ffn", "ffn_up"),
        Edge("ffn_up", "ffn_down", show(b, t, d_ff)),
        Edge("ffn_down", "add_ffn", width),
        Edge("add_ffn", "final_norm", style="residual"),
        Edge("final_norm", "unembed"),
        Edge("unembed", "softmax", show(b, t, vocabulary)),
        Edge("unembed", "loss"),
        Edge("softmax", "next_token"),
        Edge("next_token", "tokens", say("again"), "loop", ((12.06, 2), (12.06, 2.62), (0, 2.62), (0, 2))),
    )
    inside = tuple(n.id for n in nodes if 3 < n.column < 7.9)
    groups = (
        Group(say("block"), inside, f"× {layers}"),
        Group(say("multi_head"), ("projection", "attention", "join")),
        Group(say("ffn"), ("ffn_up", "ffn_down")),
    )
    return _finish(Diagram(nodes, edges, groups, say("decoder_title"), say("decoder_summary")), stems)


def encoder_decoder(
    shapes: bool,
    b: int,
    t: int,
    d: int,
    layers: int,
    words: Mapping[str, str],
    *,
    source_length: int | None = None,
    heads: int = 8,
    d_ff: int | None = None,
    vocabulary: int = VOCABULARY_2017,
    stems: Collection[str] | None = None,
) -> Diagram:
    """The encoder-decoder map: t target tokens, `source_length` source tokens (default t), `layers` in each stack.

    Words, stems and errors as in `decoder_only`.
    """
    d_ff = d_ff or 4 * d
    say = _speaker(words, _sizes(d, layers, heads, d_ff))
    node = _node_maker(say)
    source_length = t if source_length is None else source_length
    show = _shape_writer(shapes)
    read, write = show(b, source_length, d), show(b, t, d)
    encoder_nodes, encoder_edges = _input(node, "source", "encoder", 1, 0, read, show(b, source_length))
    decoder_nodes, decoder_edges = _input(node, "target", "decoder", 3, 2, write, show(b, t))
    nodes, edges, entry = [*encoder_nodes], [*encoder_edges], "encoder_add_positions"
    for column, part, page in ((2.7, "self_attention", "attention"), (4.85, "ffn", "feed_forward")):
        new, arrows, entry = _post_ln(node, "encoder", part, page, column, 1, entry, read)
        nodes += new
        edges += arrows
    nodes += decoder_nodes
    edges += decoder_edges
    entry = "decoder_add_positions"
    for column, part, page in (
        (2.7, "masked_attention", "masks"),
        (4.85, "cross_attention", "cross_attention"),
        (7.0, "ffn", "feed_forward"),
    ):
        new, arrows, entry = _post_ln(node, "decoder", part, page, column, 3, entry, write)
        nodes += new
        edges += arrows
    nodes += [
        node("unembed", 9.6, 3, "output", "forward_pass", note="unembed_2017_note"),
        node("softmax", 10.65, 3, "output", "forward_pass"),
        node("loss", 9.6, 2, "output", "losses"),
        node("next_token", 11.75, 3, "token", "forward_pass", note="next_token_2017_note"),
    ]
    edges += [
        Edge(
            "encoder_ffn_norm",
            "decoder_cross_attention",
            f"K V {say('memory')}",
            "cross",
            ((6.3, 1), (6.3, 2), (5.2, 2)),
        ),
        Edge(entry, "unembed", "", "flow"),
        Edge("unembed", "loss"),
        Edge("unembed", "softmax", show(b, t, vocabulary)),
        Edge("softmax", "next_token"),
        Edge("next_token", "target", say("again"), "loop", ((11.75, 3), (11.75, 3.62), (0, 3.62), (0, 3))),
    ]
    members = {
        side: tuple(n.id for n in nodes if n.id.startswith(f"{side}_") and n.column > 2)
        for side in ("encoder", "decoder")
    }
    groups = tuple(Group(say(side), members[side], f"× {layers}") for side in ("encoder", "decoder"))
    diagram = Diagram(
        tuple(nodes), tuple(edges), groups, say("encoder_decoder_title"), say("encoder_decoder_summary")
    )
    return _finish(diagram, stems)


def _input(node, text: str, side: str, row: int, above: int, width: str, ids: str):
    """Tokens, embedding and positions at the left end of a lane."""
    add = f"{side}_add_positions"
    nodes = [
        node(text, 0, row, "token", "tokens"),
        node("embedding", 1, row, "embed", "tokens", name=f"{side}_embedding"),
        node("positions", 1.8, above, "position", "positions", name=f"{side}_positions"),
        node("add_positions", 1.8, row, "add", name=add),
    ]
    edges = [
        Edge(text, f"{side}_embedding", ids),
        Edge(f"{side}_embedding", add, width, "residual"),
        Edge(f"{side}_positions", add),
    ]
    return nodes, edges


def _post_ln(node, side: str, part: str, page: str, column: float, row: int, entry: str, width: str):
    """One Post-LN sub-layer on the stream: copy, sub-layer above, addition, norm."""
    tap, box, add, norm = (f"{side}_{part}{end}" for end in ("_tap", "", "_add", "_norm"))
    out = column + 0.7
    kind = "ffn" if part == "ffn" else "attention"
    style = {"ffn": "flow", "cross_attention": "query"}.get(part, "qkv")
    letters = {"qkv": "Q K V", "query": "Q", "flow": ""}[style]
    nodes = [
        node("tap", column, row, "tap", name=tap),
        node(part, column + 0.35, row - 1, kind, page, name=box, span=1.36),
        node("add_attention", out, row, "add", "residual", name=add, note="add_note"),
        node("norm", column + 1.45, row, "norm", "normalization", name=norm, note="norm_post_note"),
    ]
    edges = [
        Edge(entry, tap, style="residual"),
        Edge(tap, add, style="residual"),
        Edge(tap, box, letters, style, ((column, row), (column, row - 1))),
        Edge(box, add, width if part != "ffn" else "", "flow", ((out, row - 1), (out, row))),
        Edge(add, norm, style="residual"),
    ]
    return nodes, edges, norm


def _sizes(d: int, layers: int, heads: int, d_ff: int) -> dict[str, str]:
    """The numbers that notes and summaries mention."""
    if d % heads:
        raise ValueError(f"{heads} heads do not divide a width of {d}")
    numbers = {"d": d, "layers": layers, "heads": heads, "d_head": d // heads, "d_ff": d_ff}
    return {name: str(value) for name, value in numbers.items()}


def _speaker(words: Mapping[str, str], size: dict[str, str]):
    def say(key: str) -> str:
        return fill(words[key], size)

    return say


def _node_maker(say):
    def make(key, column, row, kind, page="", *, name=None, note=None, span=1.0) -> Node:
        return Node(name or key, say(key), column, row, kind, page, say(note or f"{key}_note"), span=span)

    return make


def _shape_writer(shapes: bool):
    def show(*sizes: int) -> str:
        return f"[{', '.join(map(str, sizes))}]" if shapes else ""

    return show


def _finish(diagram: Diagram, stems: Collection[str] | None) -> Diagram:
    return diagram if stems is None else built(diagram, set(stems))
