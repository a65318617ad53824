"""Two models as drawings, each made from its description alone, on one grid, so that like parts stand at like places.

The encoder-decoder has two lanes, the others one. A part is marked where the two descriptions differ in what it shows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from core.models.configs import ModelConfig
from ui.diagram import Diagram, Edge, Group, Node, Point
from ui.figures.architectures_traits import differing, named, value_of
from ui.numbers import listed
from ui.words import Raw, Words

BRANCH, STREAM = 0.0, 1.0
LANE = 2.35  # rows from the encoder's lane to the decoder's
MARK = "≠"
ATTENTION_PAGES = {
    "causal": "masks",
    "banded": "masks",
    "sliding_window": "masks",
    "full": "attention",
    "cross": "cross_attention",
}
# What each kind of part shows of a description: it is marked if one of these differs.
SHOWN = {
    "embedding": ("vocab", "width", "scaling"),
    "positions": ("positions", "context", "segments"),
    "norm": ("norm_kind", "norm_place"),
    "embedding_norm": ("embedding_norm", "norm_kind"),
    "final_norm": ("final_norm", "norm_kind"),
    "attention": ("mask", "heads", "attention_bias", "scaling"),
    "ffn": ("ffn", "activation", "ffn_bias", "experts"),
    "logits": ("tied", "vocab", "scaling"),
    "pooler": ("pooler",),
    "objective": ("objective",),
    "block": ("layers", "width", "heads", "stack"),
}


@dataclass(frozen=True)
class Slots:
    """Which places the grid keeps free, for both drawings alike."""

    added: bool  # positions or segments are added to the tokens
    embedding_norm: bool
    before: bool  # a norm before a sub-layer
    behind: bool  # and after it
    end: float  # columns from the last addition to what follows the stack

    @classmethod
    def of(cls, *configs: ModelConfig) -> Slots:
        """The places that any of these needs."""
        before, behind = (any(c.norm_place == place for c in configs) for place in ("pre", "post"))
        ends = [
            (0.85 if c.norm_place == "post" else 0) + 0.3 * c.pooler + (0.95 if c.final_norm else 0) + 0.95
            for c in configs
        ]
        return cls(
            any(adds_positions(c) for c in configs),
            any(c.embedding_norm for c in configs),
            before,
            behind,
            max(ends),
        )


def adds_positions(config: ModelConfig) -> bool:
    """Whether positions or segments are added to the token vectors; RoPE and its kin act inside attention."""
    return config.positions in ("sinusoidal", "learned") or config.segments > 0


def drawings(a: ModelConfig, b: ModelConfig, words: Words) -> tuple[Diagram, Diagram]:
    """Both models, each marked where it differs from the other."""
    different, slots = differing(a, b), Slots.of(a, b)
    return drawing(a, words, different, slots, "A"), drawing(b, words, different, slots, "B")


def drawing(
    config: ModelConfig,
    words: Words,
    different: Collection[str] = (),
    slots: Slots | None = None,
    letter: str = "",
) -> Diagram:
    """One model. `different` are the traits whose parts are marked; `letter` stands before the name."""
    draw = _Drawing(config, words, frozenset(different), slots or Slots.of(config))
    draw.model()
    name = f"{letter} · {name_of(config, words)}" if letter else name_of(config, words)
    title = words.plain("draw.title", name=Raw(name), size=value_of("size", config, words))
    summary = words.plain("draw.summary", name=Raw(name), parts=Raw(draw.read_aloud()))
    return Diagram(tuple(draw.nodes), tuple(draw.edges), tuple(draw.groups), title, summary, compact=True)


def name_of(config: ModelConfig, words: Words) -> str:
    """The name as people write it, with the year of a published one."""
    if config.name == "own":
        return words.plain("model.own")
    return words.plain("model.named", name=words.plain(f"model.{config.name}"), year=str(config.year))


class _Drawing:
    """Nodes and arrows so far."""

    def __init__(self, config: ModelConfig, words: Words, different: frozenset[str], slots: Slots) -> None:
        self.config, self.words, self.different, self.slots = config, words, different, slots
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.groups: list[Group] = []

    def model(self) -> None:
        """The lanes that the stack has, then what is read from the last of them."""
        two = self.config.stack == "encoder-decoder"
        sides = ("encoder", "decoder") if two else (self.config.stack,)
        ends: dict[str, tuple[str, float]] = {}
        for lane, side in enumerate(sides):
            ends[side] = self.lane(side, lane * LANE, ends.get("encoder"), two)
        last, column = ends[sides[-1]]
        self.output(last, column, (len(sides) - 1) * LANE + STREAM)

    def lane(self, side: str, row: float, memory: tuple[str, float] | None, two: bool) -> tuple[str, float]:
        """One stack from its tokens to its last vector; returns that node and the column of the next one."""
        last, out = self.entry(side, row, two)
        inside, post = len(self.nodes), self.config.norm_place == "post"
        for number, part in enumerate(["self", "cross", "ffn"] if memory else ["self", "ffn"]):
            column = out + (0.8 if number == 0 else 1.45 if self.slots.behind else 0.62)
            last, out = self.sublayer(side, part, row, column, last, shape=number == 0)
            if part == "cross":
                self.across(memory[0], side, row)
        self.groups.append(self.group(side, tuple(node.id for node in self.nodes[inside:])))
        if self.config.final_norm:
            name = f"{side}.final_norm"
            column = out + (1.7 if post else 0.95)
            self.node(name, "final_norm", "norm", column, row + STREAM, "normalization")
            self.edges.append(Edge(last, name, style="residual"))
            last = name
        return last, out + self.slots.end

    def entry(self, side: str, row: float, two: bool) -> tuple[str, float]:
        """Tokens, their vectors, and the positions where they are added."""
        tokens, embedding = f"{side}.tokens", f"{side}.embedding"
        label = {"encoder": "source", "decoder": "target"}[side] if two else "text"
        self.node(tokens, label, "token", 0, row + STREAM, "tokens", about="")
        self.node(embedding, "embedding", "embed", 1, row + STREAM, "tokens")
        self.edges.append(Edge(tokens, embedding))
        last, column = embedding, 1.0
        if self.slots.added:
            column += 0.85
        if adds_positions(self.config):
            kind = "learned_segments" if self.config.segments else self.config.positions
            self.node(
                f"{side}.positions", kind, "position", column, row + BRANCH, "positions", about="positions"
            )
            self.node(f"{side}.plus", "plus", "add", column, row + STREAM, "positions", about="positions")
            self.edges.append(Edge(last, f"{side}.plus", style="residual"))
            self.edges.append(Edge(f"{side}.positions", f"{side}.plus"))
            last = f"{side}.plus"
        if self.slots.embedding_norm:
            column += 0.75
        if self.config.embedding_norm:
            name = f"{side}.embedding_norm"
            self.node(name, "embedding_norm", "norm", column, row + STREAM, "normalization")
            self.edges.append(Edge(last, name, style="residual"))
            last = name
        return last, column + (0.2 if self.slots.added and self.slots.before else 0.0)

    def sublayer(
        self, side: str, part: str, row: float, column: float, last: str, shape: bool
    ) -> tuple[str, float]:
        """One sub-layer beside the stream; returns where the stream has got to, and the column of the addition."""
        c, name = self.config, f"{side}.{part}"
        tap, norm, inner, plus = (f"{name}_{end}" for end in ("tap", "norm", "inner", "plus"))
        at = column + (1.1 if self.slots.before else 0.68)
        out = at + 0.78
        stream, branch = row + STREAM, row + BRANCH
        self.node(tap, "tap", "tap", column, stream, about="")
        self.edges.append(Edge(last, tap, style="residual"))
        self.edges.append(Edge(tap, plus, f"[T, {c.d_model:,}]" if shape else "", "residual"))
        style = {"self": "qkv", "cross": "query", "ffn": "flow"}[part]
        if c.norm_place == "pre":
            self.node(norm, "norm", "norm", column, branch, "normalization")
            self.edges += [Edge(tap, norm), Edge(norm, inner, "", style)]
        else:
            path = ((column, stream), (column, branch), (at, branch))
            self.edges.append(Edge(tap, inner, "", style, path))
        self.inner(inner, side, part, at, branch)
        self.node(plus, "add", "add", out, stream, "residual", about="")
        self.edges.append(Edge(inner, plus, path=((at, branch), (out, branch), (out, stream))))
        if c.norm_place != "post":
            return plus, out
        self.node(norm, "norm", "norm", out + 0.75, stream, "normalization")
        self.edges.append(Edge(plus, norm, style="residual"))
        return norm, out

    def inner(self, name: str, side: str, part: str, column: float, row: float) -> None:
        """The box of a sub-layer: attention of its kind, or a feed-forward layer."""
        c = self.config
        if part == "ffn":
            label = "experts" if c.n_experts else "ffn"
            self.node(name, label, "ffn", column, row, "feed_forward", about="ffn", span=1.25)
            return
        mask = "cross" if part == "cross" else c.encoder_mask if side == "encoder" else c.decoder_mask
        inside = c.positions in ("rope", "alibi", "relative_bias") and part == "self"
        suffix = self.words.plain(f"draw.inside.{c.positions}") if inside else ""
        about = ("attention", "positions_inside") if part == "self" else ("attention",)
        self.node(
            name,
            mask,
            "attention",
            column,
            row,
            ATTENTION_PAGES[mask],
            about=about,
            span=1.25,
            suffix=suffix,
        )

    def across(self, memory: str, side: str, row: float) -> None:
        """Keys and values from the encoder's last vector to cross-attention."""
        source, target = self.at(memory), self.at(f"{side}.cross_inner")
        between = row - 0.62
        path = (source, (source[0], between), (target[0], between), target)
        self.edges.append(Edge(memory, f"{side}.cross_inner", "K V", "cross", path))

    def output(self, last: str, column: float, row: float) -> None:
        """From the last vector to what is trained."""
        c = self.config
        if c.pooler:
            self.node("pooler", "pooler", "projection", column, row - 1, "forward_pass")
            self.edges.append(
                Edge(last, "pooler", path=(self.at(last), (self.at(last)[0], row - 1), (column, row - 1)))
            )
        label = "masked_head" if c.stack == "encoder" else "tied" if c.tied else "own_matrix"
        self.node("logits", label, "output", column, row, "forward_pass", about="logits")
        self.edges.append(Edge(last, "logits"))
        self.node("objective", c.objectives[0], "token", column + 1, row, "losses", about="objective")
        self.edges.append(Edge("logits", "objective"))
        if c.pooler:
            self.node("nsp", "nsp", "token", column + 1, row - 1, "losses", about="objective")
            self.edges.append(Edge("pooler", "nsp"))

    def at(self, name: str) -> Point:
        """Where a node stands."""
        node = next(n for n in self.nodes if n.id == name)
        return node.column, node.row

    def node(
        self,
        name: str,
        label: str,
        kind: str,
        column: float,
        row: float,
        page: str = "",
        *,
        about: str | tuple[str, ...] | None = None,
        span: float = 1.0,
        suffix: str = "",
    ) -> None:
        """A part with its label, its note, and its mark."""
        keys = (label,) if about is None else (about,) if isinstance(about, str) else about
        traits = [trait for key in keys for trait in _shown(key)]
        marked = any(trait in self.different for trait in traits)
        text = self.say(f"draw.{label}")
        note = self.say(f"draw.{label}_note")
        if marked:
            told = named([trait for trait in traits if trait in self.different], self.words)
            note = f"{self.words.plain('draw.differs', traits=Raw(told))} {note}"
        if suffix:
            text = self.words.plain("draw.with", part=Raw(text), what=Raw(suffix))
        self.nodes.append(
            Node(name, text, column, row, kind, page, note, span=span, mark=MARK if marked else "")
        )

    def say(self, key: str) -> str:
        """A text with the sizes of this model in it."""
        c = self.config
        told = {
            "vocab": c.vocab,
            "d": c.d_model,
            "limit": c.limit or 0,
            "heads": c.n_heads,
            "kv": c.kv_heads,
            "d_head": c.d_head,
            "d_ff": c.d_ff,
            "window": c.window or 0,
            "experts": c.n_experts,
            "chosen": c.n_chosen,
            "segments": c.segments,
            "activation": Raw(
                value_of("activation", c, self.words).partition("(")[0].partition("（")[0].strip()
            ),
            "norm": Raw(self.words.plain(f"norm_kind.{c.norm_kind}")),
        }
        return self.words.plain(key, **told)

    def group(self, side: str, members: tuple[str, ...]) -> Group:
        """The frame around the block, with how often it is there."""
        c = self.config
        layers = c.encoder_layers if side == "encoder" else c.decoder_layers
        heads = "heads" if c.kv_heads == c.n_heads else "heads_kv"
        repeat = self.words.plain(
            "draw.repeat",
            layers=layers,
            heads=Raw(self.words.plain(f"draw.{heads}", heads=c.n_heads, kv=c.kv_heads)),
        )
        marked = any(trait in self.different for trait in SHOWN["block"])
        label = self.words.plain(f"draw.{side}")
        return Group(f"{MARK} {label}" if marked else label, members, repeat)

    def read_aloud(self) -> str:
        """The labels of the parts in the order of the computation, marks spoken."""
        spoken = [
            self.words.plain("draw.spoken", part=Raw(n.label)) if n.mark else n.label
            for n in self.nodes
            if n.kind not in ("tap", "add")
        ]
        return listed(spoken, self.words.lang)


def _shown(key: str) -> tuple[str, ...]:
    """The traits of which a part shows something."""
    if key == "positions_inside":
        return ("positions",)
    return SHOWN.get(key, ())
