"""CSV that reads back as it was and runs nothing; notebook cells and Markdown that no text can break out of."""

import csv
import io

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ui.result import Array, Result
from ui.takeaway import HEADER, cells_of, csv_of, harmless, notebook_of
from ui.words import LANGUAGES, Words

HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "＝1",
    "'quoted",
    'say "hi", twice',
    "a;b,c",
    "```",
    "$x$",
    "<b>",
    "{{link}}",
    "\\",
    "'''",
    "我",
)
SETTINGS = {"tokens": HOSTILE, "dk": 8, "tau": 0.7, "scaled": False, "mask": "none"}
SETTINGS |= {"window": 3, "pad": 2, "seed": 7}


def result(labels: tuple[str, ...] = HOSTILE) -> Result:
    n = len(labels)
    values = np.random.default_rng(0).standard_normal((n, n))
    values[0, -1] = -np.inf
    arrays = {
        "scores": Array(values, labels, labels, ("query", "key")),
        "output": Array(values[:, :1].copy(), labels, ("1",), ("query", "feature")),
    }
    return Result(SETTINGS, arrays, {})


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def given_back(label: str) -> str:
    return label[1:] if label.startswith("'") else label


def test_every_number_is_in_the_csv_with_all_its_digits():
    shown = result()
    header, *rows = rows_of(csv_of(shown))
    assert tuple(header) == HEADER
    assert len(rows) == sum(array.values.size for array in shown.arrays.values())
    for matrix, row, column, row_label, column_label, value in rows:
        array = shown.arrays[matrix]
        r, c = int(row) - 1, int(column) - 1
        assert float(value) == array.values[r, c]
        assert given_back(row_label) == array.rows[r]
        assert given_back(column_label) == array.columns[c]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_what_is_counted_is_written_as_a_whole_number(kind):
    counted = np.array([[0, 2**31 - 1 if kind != np.uint8 else 255]], dtype=kind)
    whole = Result({}, {"counts": Array(counted, ("total",), ("A", "B"), ("part", "model"))}, {})
    values = [row[-1] for row in rows_of(csv_of(whole))[1:]]
    assert values == ["0", "255" if kind == np.uint8 else "2147483647"]


def test_excel_is_told_that_the_csv_is_unicode():
    assert csv_of(result()).startswith(b"\xef\xbb\xbf")


def test_no_label_begins_as_a_formula_does():
    for _, _, _, *labels, _ in rows_of(csv_of(result()))[1:]:
        for label in labels:
            assert label[0] not in "=+-@＝＋－＠\t\r\n"


@given(st.text(max_size=30))
def test_any_label_is_harmless_and_can_be_given_back(label):
    safe = harmless(label)
    assert safe.lstrip(" ")[:1] not in ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
    assert given_back(safe) == label


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_any_labels_survive_the_csv(labels):
    _, *rows = rows_of(csv_of(result(tuple(labels))))
    told = [row[3] for row in rows if row[0] == "output" and row[2] == "1"]
    expected = [harmless(label).encode("utf-8", "replace").decode() for label in labels]
    assert told == expected


def test_parameters_become_the_values_of_the_state_and_nothing_else():
    cells = cells_of("attention", result())
    assert list(cells) == ["parameters", "code", "steps", "numbers", "check"]
    scope: dict = {}
    exec(cells["parameters"], {"__builtins__": {}}, scope)
    assert scope == SETTINGS
    assert "core" not in {
        line.split()[1].partition(".")[0] for line in cells["code"].splitlines() if "import " in line[:7]
    }


def test_a_missing_parameter_or_script_is_an_error():
    with pytest.raises(KeyError):
        cells_of("attention", Result({}, {}, {}))
    with pytest.raises(FileNotFoundError):
        cells_of("home", result())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", [*HOSTILE, "````\n# title\n```", "~~~", "a\n\n# b"])
def test_the_summary_stays_inside_its_block(lang, text):
    made = notebook_of(
        "attention", result(), Words(lang, "attention"), summary=text, link="https://host/x?s=%3C"
    )
    notebook = nbformat.reads(made.decode(), as_version=4)
    nbformat.validate(notebook)
    tokens = MarkdownIt().parse(notebook.cells[0].source)
    (block,) = [token for token in tokens if token.type == "fence"]
    assert block.content.strip() == " ".join(text.split())
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h1"]
    assert "<https://host/x?s=%3C>" in notebook.cells[0].source


def test_the_same_state_gives_the_same_notebook():
    made = [
        notebook_of("attention", result(), Words("zh", "attention"), summary="一", link="") for _ in range(2)
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "https://host/> [x](y)", "?lang=en"])
def test_only_a_plain_web_address_becomes_a_link(address):
    made = notebook_of("attention", result(), Words("en", "attention"), summary="s", link=address)
    assert address not in nbformat.reads(made.decode(), as_version=4).cells[0].source
