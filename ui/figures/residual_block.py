"""One block as a drawing, built from what the block is: where the norm sits, and whether there is a residual."""

from __future__ import annotations

from ui.diagram import Diagram, Edge, Node
from ui.figures.residual import SIDES, name_of
from ui.result import Result
from ui.words import Raw, Words

PAGES = {"attention": "multi_head", "ffn": "feed_forward"}
FORMULAS = {
    ("pre", True): "x + f(\\mathrm{LN}(x))",
    ("post", True): "\\mathrm{LN}(x + f(x))",
    ("none", True): "x + f(x)",
    ("pre", False): "f(\\mathrm{LN}(x))",
    ("post", False): "\\mathrm{LN}(f(x))",
    ("none", False): "f(x)",
}
STREAM, BRANCH = 1, 0  # rows of the grid


def diagrams(result: Result, words: Words) -> dict[str, Diagram]:
    """The block of each side, with the shapes of this state on the arrows."""
    p = result.parameters
    shape = f"[{p['batch']}, {p['tokens']}, {p['width']}]"
    return {side: block(side, p[f"norm_{side}"], p[f"res_{side}"], shape, result, words) for side in SIDES}


def block(side: str, norm: str, residual: bool, shape: str, result: Result, words: Words) -> Diagram:
    """Two sub-layers one after the other; with a residual each in a branch beside the stream."""
    draw = _Drawing(words, shape)
    draw.node("x", "token", 0, STREAM)
    for number, inner in enumerate(("attention", "ffn")):
        draw.sublayer(number, inner, norm, residual)
    draw.node("out", "output", draw.column + 1.1, STREAM)
    draw.edge("out", "residual" if residual else "flow")
    return Diagram(
        tuple(draw.nodes),
        tuple(draw.edges),
        title=name_of(side, result, words),
        summary=words.plain(
            "block.summary",
            name=Raw(name_of(side, result, words)),
            formula=Raw(_plain(norm, residual)),
            shape=Raw(shape),
        ),
    )


def formula(norm: str, residual: bool) -> str:
    """A sub-layer of this arrangement, in LaTeX."""
    return FORMULAS[norm, residual]


def _plain(norm: str, residual: bool) -> str:
    return formula(norm, residual).replace("\\mathrm{LN}", "LN")


class _Drawing:
    """Nodes and arrows so far; `last` is what the stream has reached."""

    def __init__(self, words: Words, shape: str) -> None:
        self.words, self.shape = words, shape
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.column, self.last = 0.0, ""

    def node(self, name: str, kind: str, column: float, row: int, page: str = "", label: str = "") -> None:
        label = label or name
        note = self.words.plain(f"block.{label}_note")
        self.nodes.append(Node(name, self.words.plain(f"block.{label}"), column, row, kind, page, note))
        self.column = max(self.column, column)
        self.last = self.last or name

    def edge(self, to: str, style: str = "flow", label: str = "") -> None:
        self.edges.append(Edge(self.last, to, label, style))
        self.last = to

    def sublayer(self, number: int, inner: str, norm: str, residual: bool) -> None:
        row, start = (BRANCH if residual else STREAM), self.column
        if residual:
            start += 1
            self.node(f"tap{number}", "tap", start, STREAM, label="tap")
            self.edge(f"tap{number}", "residual", self.shape if number == 0 else "")
        tap, at = self.last, start
        if norm == "pre":
            at = start if residual else start + 1.1
            self.node(f"norm{number}", "norm", at, row, "normalization", "norm_pre")
            self.edge(f"norm{number}")
        at += 1.3 if norm == "pre" or not residual else 0.65
        self.node(f"inner{number}", inner, at, row, PAGES[inner], inner)
        self.edge(f"inner{number}", label=self.shape if norm == "pre" else "")
        if residual:
            at += 1.2
            self.node(f"add{number}", "add", at, STREAM, label="add")
            self.edges.append(Edge(tap, f"add{number}", "", "residual"))
            self.edges.append(
                Edge(
                    self.last,
                    f"add{number}",
                    self.shape,
                    path=((at - 1.2, BRANCH), (at, BRANCH), (at, STREAM)),
                )
            )
            self.last = f"add{number}"
        if norm == "post":
            self.node(f"norm{number}", "norm", at + 1, STREAM, "normalization", "norm_post")
            self.edge(f"norm{number}", "residual" if residual else "flow")
