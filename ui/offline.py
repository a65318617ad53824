"""A picture to take away: one HTML file that needs neither this app nor a network."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ui import diagram
from ui.chart_image import svgs
from ui.figures.charts import Chart
from ui.matrix import Cell, Rows, encode, one_script, sendable
from ui.strips import SCRIPT, Strip, payload


def offline_html(
    rows: Rows,
    *,
    focus: str,
    cell: Cell | None = None,
    words: Mapping[str, str],
    summary: str,
    title: str,
    about: Sequence[tuple[str, str]] = (),
    link: tuple[str, str] = ("", ""),
    lang: str = "en",
    charts: Sequence[Chart] = (),
    strips: Sequence[Strip] = (),
    diagrams: Sequence[Mapping[str, Any]] = (),
) -> str:
    """A picture as one HTML file that needs no network: script inlined, numbers in base64, light or dark.

    Charts, then diagrams (as `ui.diagram.still` gives them), then token strips stand above the matrices; the charts as drawings. Without matrices `rows` is empty and nothing of it is there.
    `about` is listed under the summary, name and value; `link` is a label and an address, drawn if it is http(s).
    """
    drawn = "".join(f"<figure>{svg}</figure>\n" for svg in svgs(charts))
    if diagrams:
        drawn += _diagrams(diagrams)
    if strips:
        drawn += _strips(payload(strips, cell, words=words, summary=summary, lang=lang))
    return _PAGE.format(
        lang="zh-CN" if lang == "zh" else html.escape(lang),
        title=html.escape(sendable(title)),
        summary=html.escape(sendable(summary)),
        about=_about(about, link),
        picture=drawn
        + (_matrices(encode(rows, focus, cell, words, summary, lang, in_full=True)) if rows else ""),
    )


def _matrices(data: bytes) -> str:
    script = one_script().replace("</", "<\\/")
    return _SCRIPT.format(data=base64.b64encode(data).decode(), script=script)


def _diagrams(drawn: Sequence[Mapping[str, Any]]) -> str:
    literal = json.dumps(list(drawn), ensure_ascii=False).replace("<", "\\u003c")
    return _DIAGRAMS.format(data=literal, script=diagram.script())


def _strips(data: Mapping[str, Any]) -> str:
    # "<" is written as an escape, so that no text can end the script.
    literal = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return _STRIPS.format(data=literal, script=SCRIPT.read_text("utf-8").replace("export default ", ""))


def _about(about: Sequence[tuple[str, str]], link: tuple[str, str]) -> str:
    """The settings as a definition list, then the link; nothing for nothing."""
    escaped = [tuple(html.escape(sendable(text)) for text in pair) for pair in (*about, link)]
    pairs = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in escaped[:-1])
    label, address = escaped[-1]
    anchor = f'<p><a href="{address}">{label}</a></p>' if address.startswith(("http://", "https://")) else ""
    return (f"<dl>{pairs}</dl>" if pairs else "") + anchor


_SCRIPT = """<div id="picture"></div>
<script type="module">
{script}
const bytes = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
mount({{ data: bytes, parentElement: document.getElementById("picture"), setStateValue() {{}} }});
</script>"""
_DIAGRAMS = """<div id="diagrams"></div>
<script type="module">
{script}
for (const data of {data}) {{
  const parentElement = document.createElement("div");
  document.getElementById("diagrams").append(parentElement);
  show({{ data, parentElement, setTriggerValue() {{}} }});
}}
</script>"""
_STRIPS = """<div id="strips"></div>
<script type="module">
{script}
show({{ data: {data}, parentElement: document.getElementById("strips"), setStateValue() {{}} }});
</script>"""
_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --st-background-color: #ffffff; --st-text-color: #1f2328;
  --st-primary-color: #7a3ff2; --st-font: system-ui, "Segoe UI", "PingFang SC", "Microsoft YaHei",
  "Noto Sans CJK SC", sans-serif; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --st-background-color: #14161a; --st-text-color: #e6e8eb; --st-primary-color: #b49bff; }}
}}
body {{ margin: 0 auto; max-width: 1280px; padding: 20px 24px; font-family: var(--st-font);
  background: var(--st-background-color); color: var(--st-text-color); }}
h1 {{ font-size: 22px; line-height: 1.3; margin: 0 0 4px; }}
p {{ line-height: 1.5; margin: 0 0 20px; max-width: 80ch; }}
dl {{ display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 28px; margin: 0 0 12px; font-size: 14px; }}
dt, dd {{ display: inline; margin: 0 8px 0 0; }} dt {{ opacity: 0.7; }} dd {{ overflow-wrap: anywhere; }}
figure {{ margin: 0 0 16px; padding: 8px; background: #ffffff; overflow-x: auto; }}
a {{ color: var(--st-primary-color); }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{summary}</p>
{about}
{picture}
</body>
</html>
"""
