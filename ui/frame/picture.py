"""The main picture of a page in one state, as the tabs below it need it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ui import matrix
from ui.diagram import Diagram
from ui.figures.charts import Chart
from ui.result import Result
from ui.strips import Strip


@dataclass(frozen=True, eq=False)
class Picture:
    """What was computed, how it was drawn, and the same in one line of text."""

    result: Result
    rows: matrix.Rows
    summary: str
    charts: Mapping[str, Chart] = field(default_factory=dict)
    strips: Sequence[Strip] = ()
    diagrams: Sequence[Diagram] = ()
