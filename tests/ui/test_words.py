"""Both languages say the same things, in Markdown that comes out as it was meant."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ui import course
from ui.words import CONTENT, LANGUAGES, PLACEHOLDER, Raw, Words, fill, page_sections, quote, shared_strings

MARKDOWN = MarkdownIt("commonmark")
STEMS = sorted({path.stem for lang in LANGUAGES for path in (CONTENT / lang).glob("*.md")})
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)


def texts(lang: str, stem: str) -> dict[str, str]:
    return page_sections(lang, stem) if stem else shared_strings(lang)


def placeholders(text: str) -> set[str]:
    return {name for name, _, _ in PLACEHOLDER.findall(text)}


@pytest.mark.parametrize("stem", ["", *STEMS])
def test_both_languages_have_the_same_keys_placeholders_and_formulas(stem):
    english, chinese = texts("en", stem), texts("zh", stem)
    assert english.keys() == chinese.keys()
    for key in english:
        assert placeholders(english[key]) == placeholders(chinese[key]), key
        assert FORMULA.findall(english[key]) == FORMULA.findall(chinese[key]), key


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("stem", ["", *STEMS])
def test_texts_are_there_and_calm(lang, stem):
    for key, text in texts(lang, stem).items():
        assert text.strip(), key
        assert not re.search(r"[!！]", FORMULA.sub("", text)), key


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("stem", STEMS)
def test_markdown_leaves_no_markers_behind(lang, stem):
    """Bold next to full-width punctuation is not bold in CommonMark: `**键（key）**的` shows its stars."""
    for key, text in texts(lang, stem).items():
        prose = FORMULA.sub("x", PLACEHOLDER.sub("x", text))
        for token in MARKDOWN.parse(prose):
            shown = "".join(child.content for child in token.children or [] if child.type == "text")
            assert "**" not in shown, key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_has_a_title_and_every_built_page_its_words(lang):
    for page in course.PAGES.values():
        assert Words(lang)(f"page.{page.stem}")
        if course.is_built(page):
            words = Words(lang, page.stem)
            keys = [
                "question",
                "answer",
                *(f"control.{p.name}.label" for p in page.parameters if p.name != "cell"),
            ]
            assert all(key in words for key in keys), page.stem


def test_chinese_is_set_as_chinese():
    """Half-width commas and full stops between Chinese characters are typing slips."""
    for stem in ["", *STEMS]:
        for key, text in texts("zh", stem).items():
            assert not re.search(r"[\u4e00-\u9fff][,;:?.][\u4e00-\u9fff]", FORMULA.sub("", text)), (stem, key)


LOGARITHM = re.compile(r"取对数|负对数|为底的对数|对数(坐标|刻度|轴|尺度|似然|概率|几率)")


@pytest.mark.parametrize("stem", ["", *STEMS])
def test_a_count_of_pairs_is_not_written_as_a_logarithm(stem):
    """对数 is the word for logarithm; a number of pairs needs another one."""
    for key, text in texts("zh", stem).items():
        assert "对数" not in LOGARITHM.sub("", text), (stem, key)


@pytest.mark.parametrize("stem", ["", *STEMS])
def test_no_formula_speaks_one_language(stem):
    """Formulas are the same in both languages, so there is no room in them for a phrase in either."""
    for key, text in texts("zh", stem).items():
        for formula in FORMULA.findall(text):
            assert not re.search(r"\\text\{[^}]*[a-z]+ +[a-z]+", formula), (stem, key)


def test_a_missing_value_or_key_is_an_error():
    with pytest.raises(KeyError):
        fill("{{here}} {{missing}}", {"here": "x"})
    with pytest.raises(KeyError):
        Words("en")("no.such.key")


@pytest.mark.parametrize(("count", "said"), [(0, "0 keys are"), (1, "1 key is"), (2, "2 keys are")])
def test_the_word_fits_the_number(count, said):
    assert fill("{{n}} {{n|key is|keys are}}", {"n": str(count)}) == said


def test_braces_of_latex_are_left_alone():
    assert fill(r"\frac{{{a}}}{\sqrt{{{b}}}}", {"a": "1", "b": "2"}) == r"\frac{1}{\sqrt{2}}"


HOSTILE = [
    "<script>alert(1)</script>",
    "$x$",
    "**bold**",
    "`",
    "``",
    "a`b``c",
    ":material/home:",
    "\\",
    "[l](u)",
    "\n",
    "|",
]


def shown_as_code(markdown: str) -> str:
    """What a CommonMark parser takes for the one code span of the text, with nothing else beside it."""
    (inline,) = [token for token in MARKDOWN.parse(f"x{markdown}y") if token.type == "inline"]
    before, code, after = inline.children
    assert (before.content, code.type, after.content) == ("x", "code_inline", "y")
    return code.content


@pytest.mark.parametrize("text", HOSTILE[:-2])
def test_a_readers_text_is_quoted_whole(text):
    assert shown_as_code(quote(text)).replace("\u2060", "") == text


@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_any_text_stays_inside_its_code_span(text):
    shown_as_code(quote(text))


@pytest.mark.parametrize(
    "text", ["a\r\r# x", "\r\r![](http://e/x.png)", "a\u2028\u2028b", "x\x0b\x0cy", "\u202eabc\u2067"]
)
def test_nothing_breaks_out_of_the_line_or_turns_it(text):
    shown = shown_as_code(quote(text))
    assert not set(shown) & set("\r\n\x0b\x0c\u2028\u202e\u2067")
    assert "�" in shown


def test_icon_codes_are_broken_up():
    assert ":material/" not in quote(":material/home:")


def test_values_are_quoted_unless_they_are_ours(tmp_path):
    words = Words("en", "attention")
    assert "` $x$ `" in words("why.masked", i=1, query="$x$", j=2, key="b", value=0.5)
    assert Raw("a") in words("why.hidden", i=1, query="q", j=2, key="k", reason=Raw("a"))


@pytest.mark.parametrize(
    ("stem", "key", "values", "said"),
    [
        ("positions", "rot.summary", {"t": 2, "delta": 1, "similarity": 3.2}, "by 1 position;"),
        (
            "normalization",
            "run.chart_mean",
            {"c": 1, "seen": 1, "now": 1, "most": 9, "last": 1, "truth": 0},
            "1 batch ",
        ),
        ("normalization", "pad.summary", {"real": 1, "pads": 2, "batch": 0.1, "layer": 0}, "1 real row "),
        ("tokens", "path.summary", {"word": "a", "n": 1, "steps": 0, "tokens": 1}, "1 byte,"),
    ],
)
def test_one_of_a_thing_is_said_as_one(stem, key, values, said):
    assert said in Words("en", stem)(key, **values)
