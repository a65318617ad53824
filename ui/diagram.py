"""Box-and-arrow figures whose parts are links: the home map and every architecture drawing.

A diagram is data on a grid. Columns follow the computation, rows are side branches; the browser scales the grid
to the width it has and turns it by a quarter on a phone, so one description serves both. Nothing here knows a
word of English or Chinese: labels, notes and the tooltip for a missing page come from the caller.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from ui.browser_code import component

Point = tuple[float, float]  # (column, row)

KINDS = (
    "token",
    "embed",
    "position",
    "norm",
    "projection",
    "attention",
    "mask",
    "ffn",
    "add",
    "tap",
    "output",
)
STYLES = ("flow", "residual", "cross", "query", "qkv", "loop")
# Identity colours of the whole app (Okabe-Ito, safe for colour-blind readers); the browser mixes them with the
# theme's text colour, so that they hold up on a dark page.
PALETTE = {"q": "#0072b2", "k": "#d55e00", "v": "#009e73", "norm": "#e0a800"}
_SCRIPT = Path(__file__).resolve().parent.parent / "static" / "diagram.js"


@dataclass(frozen=True)
class Node:
    """One part. `page` is the stem it leads to, "" for none; `span` is its width in columns.

    `mark` is a sign at its corner, for what is to be looked at; `note` should say what the sign means.
    """

    id: str
    label: str
    column: float
    row: float
    kind: str = "output"
    page: str = ""
    note: str = ""
    available: bool = True
    span: float = 1.0
    mark: str = ""


@dataclass(frozen=True)
class Edge:
    """An arrow. `path`, when given, replaces the straight line or elbow: its ends must lie inside the two nodes."""

    source: str
    target: str
    label: str = ""
    style: str = "flow"
    path: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Group:
    """A tinted frame around the nodes, with `repeat` ("× 12") beside its label."""

    label: str
    nodes: tuple[str, ...]
    repeat: str = ""


@dataclass(frozen=True)
class Diagram:
    """A whole figure; the order of `nodes` is the order in which a keyboard or a screen reader meets them.

    A `compact` one has rows close together, and its title is read above it until a part is pointed at.
    Raises ValueError for a repeated id, an unknown kind or style, an edge or group that names a missing node,
    and a path with a slanted piece.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...] = ()
    title: str = ""
    summary: str = ""
    compact: bool = False

    def __post_init__(self) -> None:
        known = {node.id for node in self.nodes}
        if len(known) != len(self.nodes):
            raise ValueError("two nodes share an id")
        _refuse("node kinds", {node.kind for node in self.nodes} - set(KINDS))
        _refuse("edge styles", {edge.style for edge in self.edges} - set(STYLES))
        _refuse("edge ends", {end for edge in self.edges for end in (edge.source, edge.target)} - known)
        _refuse("group members", {member for group in self.groups for member in group.nodes} - known)
        for edge in self.edges:
            points = route(self, edge)
            if any(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(points)):
                raise ValueError(f"the path {edge.source} → {edge.target} has a slanted piece")

    def node(self, node_id: str) -> Node:
        """The node with that id; KeyError if there is none."""
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)


def _refuse(what: str, names: set[str]) -> None:
    if names:
        raise ValueError(f"unknown {what}: {', '.join(sorted(names))}")


def route(diagram: Diagram, edge: Edge) -> tuple[Point, ...]:
    """Corner points of an edge in grid units: its own path, else a line, else an elbow along the column first."""
    if edge.path:
        return edge.path
    source, target = diagram.node(edge.source), diagram.node(edge.target)
    start, end = (source.column, source.row), (target.column, target.row)
    if start[0] == end[0] or start[1] == end[1]:
        return (start, end)
    return (start, (start[0], end[1]), end)


def built(diagram: Diagram, stems: Sequence[str] | set[str]) -> Diagram:
    """The same diagram with every node unavailable whose page is not among `stems`."""
    nodes = (replace(node, available=not node.page or node.page in stems) for node in diagram.nodes)
    return replace(diagram, nodes=tuple(nodes))


def payload(diagram: Diagram, *, words: Mapping[str, str], lang: str = "en") -> dict:
    """What the browser is given: plain values only.

    `words` needs "hint" (the read-out when nothing is pointed at) and "not_built"; KeyError names a missing one.
    """
    return {
        "title": diagram.title,
        "summary": diagram.summary,
        "hint": words["hint"],
        "compact": diagram.compact,
        "notBuilt": words["not_built"],
        "lang": "zh-CN" if lang == "zh" else lang,
        "palette": PALETTE,
        "nodes": [asdict(node) | {"href": _href(node, lang)} for node in diagram.nodes],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "label": edge.label,
                "style": edge.style,
                "points": [list(point) for point in route(diagram, edge)],
            }
            for edge in diagram.edges
        ],
        "groups": [{"label": g.label, "repeat": g.repeat, "nodes": list(g.nodes)} for g in diagram.groups],
    }


def _href(node: Node, lang: str) -> str:
    # Relative, so that it works behind any base path; a real address, so that middle-click and "copy link" do.
    return f"{node.page}?{urlencode({'lang': lang})}" if node.page and node.available else ""


def draw(
    key: str,
    diagram: Diagram,
    *,
    words: Mapping[str, str],
    on_go: Callable[[str], None] | None = None,
    lang: str = "en",
) -> str | None:
    """Show the diagram; the stem of the page whose node was just clicked, else None.

    The click arrives once, so the caller can `st.switch_page` without reloading the browser. `on_go` is called
    with the same stem before the script runs. A name that no available node leads to is ignored.
    """

    def clicked() -> None:
        stem = _stem(diagram, st.session_state[key].get("go"))
        if stem and on_go:
            on_go(stem)

    result = _component()(key=key, data=payload(diagram, words=words, lang=lang), on_go_change=clicked)
    return _stem(diagram, result.get("go"))


def still(diagram: Diagram, *, lang: str = "en") -> dict:
    """What the browser is given where no page can be led to: the parts explain themselves and are not links."""
    data = payload(diagram, words={"hint": "", "not_built": ""}, lang=lang)
    for node in data["nodes"]:
        node |= {"href": "", "page": ""}
    return data


def script() -> str:
    """The browser code for a file of its own; it defines `show`."""
    return _SCRIPT.read_text("utf-8").replace("export default function", "function")


def offline_html(diagram: Diagram, *, words: Mapping[str, str], lang: str = "en", site: str = "") -> str:
    """The diagram as one file that opens without a network, in light and dark, in either orientation.

    With `site`, the address of a running app ending in "/", the parts lead there; without it they are not links.
    """
    data = payload(diagram, words=words, lang=lang)
    data["hint"] = data["hint"] if site else ""
    for node in data["nodes"]:
        node["href"] = site + node["href"] if site and node["href"] else ""
        node["page"] = node["page"] if node["href"] or not node["available"] else ""
    # "<" is written as an escape, so that no label can end the script.
    literal = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return _OFFLINE.format(lang=data["lang"], title=escape(diagram.title), script=script(), data=literal)


_OFFLINE = """<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --st-text-color: light-dark(#1f1c2b, #eceaf2);
  --st-background-color: light-dark(#fff, #15131c); --st-primary-color: light-dark(#6440b5, #b59bf5); }}
body {{ margin: 16px; background: var(--st-background-color); color: var(--st-text-color); font-family: system-ui; }}
h1 {{ font-size: 1.3rem; }}
</style>
<h1>{title}</h1>
<main></main>
<script type="module">
{script}
const go = (name, stem) => {{ location.href = data.nodes.find((node) => node.page === stem).href; }};
const data = {data};
show({{ parentElement: document.querySelector("main"), data, setTriggerValue: go }});
</script>
</html>
"""


def _stem(diagram: Diagram, value: object) -> str | None:
    # The value comes from the browser, so it is looked up and never trusted.
    return next((n.page for n in diagram.nodes if n.page and n.available and n.page == value), None)


@cache
def _component() -> Callable:
    digest = hashlib.sha256(_SCRIPT.read_bytes()).hexdigest()[:12]
    return component("diagram", digest)
