"""What a reader can take away of a result: its numbers as CSV, and a notebook that computes them again.

Nothing here knows Streamlit. Offline HTML is made by ui.offline.
"""

from __future__ import annotations

import ast
import csv
import io

import numpy as np

from ui import course
from ui.result import Result
from ui.source import OWN, closure
from ui.words import Raw, Words

HEADER = ("matrix", "row", "column", "row_label", "column_label", "value")
# What a spreadsheet takes for the start of a formula, in half and full width; and the mark that stops it.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
_STOP = "'"


def csv_of(result: Result) -> bytes:
    """Every array of the result, one line a cell; rows and columns counted from 1, values with all their digits.
    What is counted or numbered is written as a whole number, without a point.

    UTF-8 with a byte order mark, without which Excel misreads Chinese. Labels are always in quotes, and one that
    a spreadsheet would run as a formula gets an apostrophe in front; so does one that begins with an apostrophe,
    so that taking one leading apostrophe away always gives the label back.
    """
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(HEADER)
    for name, array in result.arrays.items():
        number = int if np.issubdtype(array.values.dtype, np.integer) else float
        for r, row_label in enumerate(array.rows):
            for c, column_label in enumerate(array.columns):
                labels = harmless(row_label), harmless(column_label)
                writer.writerow((name, r + 1, c + 1, *labels, number(array.values[r, c])))
    return file.getvalue().encode("utf-8-sig", "replace")


def harmless(label: str) -> str:
    """A label that no spreadsheet runs; see `csv_of`."""
    return _STOP + label if label.lstrip(" ").startswith((_STOP, *_FORMULA)) else label


def notebook_of(stem: str, result: Result, words: Words, *, summary: str, link: str) -> bytes:
    """A Jupyter notebook that reproduces the result without this project: prose in the reader's language.

    Its cells come from assets/notebooks/<stem>.py; see `cells_of`. The same state gives the same file.
    """
    import nbformat  # here, because it is slow to import and rarely wanted

    new = nbformat.v4
    told = {"title": Raw(words("question")), "summary": Raw(_block(summary)), "link": Raw(_link(link))}
    cells = [new.new_markdown_cell(words("notebook.intro", **told), id="intro")]
    for name, code in cells_of(stem, result).items():
        cells.append(new.new_markdown_cell(words(f"notebook.{name}"), id=f"{name}-text"))
        cells.append(new.new_code_cell(code, id=name))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return nbformat.writes(new.new_notebook(cells=cells, metadata=about)).encode("utf-8", "replace")


def cells_of(stem: str, result: Result) -> dict[str, str]:
    """The code of a page's notebook by cell: parameters, code (the core, self-contained), then the page's own.

    The script begins with imports and a cell `# %% parameters` of plain assignments. Their values are replaced by
    the result's; imports from core by the source of what they name; the other imports stay.
    Raises KeyError for a parameter that the result has not, and FileNotFoundError for a page without a script.
    """
    script = (course.ROOT / "assets" / "notebooks" / f"{stem}.py").read_text(encoding="utf-8")
    head, *parts = script.split("# %% ")
    cells = {name.strip(): code.strip() for name, code in (part.split("\n", 1) for part in parts)}
    wanted = [target.id for node in ast.parse(cells.pop("parameters")).body for target in node.targets]
    values = "\n".join(f"{name} = {result.parameters[name]!r}" for name in wanted)
    return {"parameters": values, "code": _imports(head)} | cells


def _imports(head: str) -> str:
    """The imports of a script, those from core as source."""
    imports = [node for node in ast.parse(head).body if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [n for n in imports if isinstance(n, ast.ImportFrom) and n.module.partition(".")[0] == OWN]
    others = "\n".join(ast.unparse(node) for node in imports if node not in ours)
    whole = closure(f"{node.module}.{alias.name}" for node in ours for alias in node.names)
    return f"{whole}\n\n{others}".strip()


def _block(text: str) -> str:
    """Plain text as a Markdown block that nothing in it can leave."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{' '.join(text.split())}\n{fence}"


def _link(address: str) -> str:
    """An address as a Markdown autolink. Percent-encoded as ours are, nothing in it can end it."""
    return (
        f"<{address}>"
        if address.startswith(("http://", "https://")) and not set(address) & set("<> \n")
        else ""
    )
