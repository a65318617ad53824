"""Charts as drawings (SVG), made outside the server's own process when somebody asks for a file."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence

from ui.figures.charts import Chart

WIDTH = 720  # px
# Vega's engine needs about 160 MB while it draws. In a process of its own they are given back at once, and one
# drawing at a time bounds them, however many readers ask.
_DRAW = """
import json, sys, vl_convert
charts = json.load(sys.stdin)
json.dump([vl_convert.vegalite_to_svg(chart) for chart in charts], sys.stdout)
"""
_ONE = threading.Lock()
# Letters keep a margin of the page's colour, as assets/style.css gives them in the app.
_MARGIN = "<style>.mark-text.role-mark text{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}</style>"
_LOOK = {
    "font": "system-ui, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
    "view": {"stroke": None},
    "axis": {"gridColor": "#e6e4ea", "domainColor": "#8b8795", "tickColor": "#8b8795"},
}


def svgs(charts: Sequence[Chart]) -> list[str]:
    """Each chart as the text of an SVG file. Raises subprocess.CalledProcessError if the engine gives up."""
    if not charts:
        return []
    given = json.dumps([chart.altair().to_dict() | {"width": WIDTH, "config": _LOOK} for chart in charts])
    with _ONE:
        done = subprocess.run(
            [sys.executable, "-c", _DRAW], input=given, capture_output=True, text=True, check=True, timeout=60
        )
    return [drawn.replace("><", f">{_MARGIN}<", 1) for drawn in json.loads(done.stdout)]
