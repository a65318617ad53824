"""What the attention page hands out, in both languages: the notebook is run, and its numbers are the page's."""

from __future__ import annotations

import csv
import io
import json

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from tests.app.harness import assert_whole, open_page
from ui import course
from ui.frame import pieces, takeaway
from ui.frame.where import pages_after
from ui.words import LANGUAGES, Words

HOSTILE = '\'); raise SystemExit # """ \\ {{link}} ``` $x$ =1+1 </script>'
STATES = {
    "default": {},
    "chinese": {"s": "我爱学习", "tokens": "4", "mask": "window", "window": "2", "dk": "5", "tau": "0.3"},
    "hostile": {"s": HOSTILE, "tokens": "24", "mask": "padding", "pad": "20", "scaled": "0", "dk": "64"},
    "nothing to see": {"mask": "padding", "pad": "24"},
}
TABBED = [page for page in course.built() if page.shows]


@pytest.fixture
def taken(monkeypatch):
    """`taken(lang, query)`: the files of the page, by kind, as its buttons would hand them out."""
    makers: dict = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))

    def take(lang: str, query: dict) -> dict[str, bytes]:
        makers.clear()
        app = open_page("attention", {"lang": lang} | query, tab="takeaway")
        assert not app.exception
        assert not app.error
        return {kind: make() for kind, make in makers.items()}

    return take


def matrices(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a tidy CSV."""
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    shapes: dict[str, tuple[int, int]] = {}
    for row in rows:
        shapes[row["matrix"]] = (int(row["row"]), int(row["column"]))  # the last cell comes last
    arrays = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    for row in rows:
        arrays[row["matrix"]][int(row["row"]) - 1, int(row["column"]) - 1] = float(row["value"])
    return arrays


def run(made: bytes, folder) -> dict[str, np.ndarray]:
    """Run a notebook in a folder of its own; its `arrays`."""
    notebook = nbformat.reads(made.decode(), as_version=4)
    nbformat.validate(notebook)
    ending = "import json, sys\nassert 'core' not in sys.modules\n"
    ending += "print(json.dumps({name: values.tolist() for name, values in arrays.items()}))"
    notebook.cells.append(nbformat.v4.new_code_cell(ending))
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, startup_timeout=600, resources=where).execute()
    (output,) = notebook.cells[-1].outputs
    return {name: np.array(values) for name, values in json.loads(output.text).items()}


@pytest.mark.parametrize(
    ("lang", "state"), [("en", "default"), ("zh", "chinese"), ("en", "hostile"), ("zh", "nothing to see")]
)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(taken, tmp_path, monkeypatch, lang, state):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    files = taken(lang, STATES[state])
    shown, computed = matrices(files["csv"]), run(files["ipynb"], tmp_path)
    assert set(shown) == set(computed) >= {"x", "q", "k", "v", "scores", "weights", "output"}
    for name, values in shown.items():
        np.testing.assert_allclose(computed[name], values, rtol=0, atol=1e-12, err_msg=name)
    title = Words(lang, "attention")("question")
    assert nbformat.reads(files["ipynb"].decode(), as_version=4).cells[0].source.startswith(f"# {title}")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("state", STATES)
def test_the_offline_page_tells_its_state_as_text_and_asks_for_nothing(taken, lang, state):
    text = taken(lang, STATES[state])["html"].decode()
    words = Words(lang, "attention")
    assert words("question") in text
    assert words.plain("control.tau.label") in text
    assert "<script src" not in text
    assert "default-src 'none'" in text
    assert text.count("</script>") == 1, "a typed </script> must not end the script"
    if state == "hostile":
        assert "{{link}}" in text
        assert "&lt;/script&gt;" in text


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", ["code", "takeaway", "where"])
@pytest.mark.parametrize("page", TABBED, ids=lambda page: page.stem)
def test_every_shared_tab_opens_whole(page, tab, lang, caplog):
    assert_whole(open_page(page.stem, {"lang": lang}, tab=tab), caplog)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", TABBED, ids=lambda page: page.stem)
def test_what_is_promised_is_what_is_handed_out(monkeypatch, page, lang):
    drawn = []
    monkeypatch.setattr(pieces, "draw_takeaway", lambda entry, values, words, picture, **_: drawn.append(picture))  # fmt: skip
    open_page(page.stem, {"lang": lang}, tab="takeaway")
    (picture,) = drawn
    words, shared = Words(lang, page.stem), Words(lang)
    notes = " ".join(words(f"takeaway.{name}") for name in ("csv_note", "html_note", "picture"))
    matrices_named = {"en": "matri", "zh": "矩阵"}[lang] in notes
    assert matrices_named == bool(picture.rows), "matrices are promised where there are some, and there only"
    if "tokenizers" in words.table("notebook")["intro"]:
        assert words("takeaway.ipynb_note") != shared("takeaway.ipynb_note"), "it needs more than PyTorch"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("part", "beginning"), [("alone", "def attention("), ("whole", "# From"), ("numpy", "# From")]
)
def test_each_source_is_shown_and_checked(lang, part, beginning, caplog):
    app = open_page("attention", {"lang": lang}, tab="code")
    app.session_state["attention code part"] = part
    app.run()
    assert_whole(app, caplog)
    assert any(code.value.startswith(beginning) for code in app.code)
    assert not app.warning
    told = "\n".join(markdown.value for markdown in app.markdown)
    assert "scaled_dot_product_attention" in told
    assert "×10⁻" in told
    assert any("ValueError: matmul" in code.value for code in app.code) == (part == "numpy")


def test_the_trap_is_silent_where_the_picture_is_square():
    app = open_page("attention", {"lang": "en", "dk": "6"}, tab="code")
    app.session_state["attention code part"] = "numpy"
    app.run()
    assert not any("ValueError" in code.value for code in app.code)
    assert "it computes QK instead of QKᵀ" in "\n".join(markdown.value for markdown in app.markdown)


def test_rows_without_a_key_are_explained_beside_the_check():
    told = [
        m.value
        for m in open_page("attention", {"lang": "en", "mask": "padding", "pad": "24"}, tab="code").markdown
    ]
    (note,) = [text for text in told if "nn.MultiheadAttention" in text]
    assert note.startswith("6 of the rows")
    assert "0.167 for each key (6 of them)" in note


def test_the_summary_can_be_copied():
    app = open_page("attention", {"lang": "en"}, tab="takeaway")
    assert any(code.value.startswith("Attention over 6 tokens") for code in app.code)


def test_where_to_go_names_what_is_planned_and_links_what_is_built(monkeypatch):
    app = open_page("attention", {"lang": "en"}, tab="where")
    told = "\n".join(m.value for m in app.markdown)
    assert "[Attention Is All You Need](https://arxiv.org/abs/1706.03762)" in told
    stems = list(course.PAGES)
    assert pages_after("attention")[0] == stems[stems.index("attention") + 1] == "masks"
    monkeypatch.setattr(course, "is_built", lambda page: page.stem in ("attention", "positions"))
    assert pages_after("attention") == ("masks", "positions")
    assert pages_after("positions") == ("feed_forward",)
    assert pages_after(stems[-1]) == ()
