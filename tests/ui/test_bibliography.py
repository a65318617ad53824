"""The bibliography is complete in both languages, and every page's sources are in it."""

import re

import pytest

from ui import course
from ui.bibliography import bibliography, cited
from ui.words import LANGUAGES, Words

ENTRIES = bibliography().values()
ARXIV = re.compile(r"https://arxiv\.org/abs/(\d\d)(\d\d)\.\d{4,5}")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_an_entry_is_whole(entry):
    assert all((entry.authors, entry.title, entry.venue, entry.en, entry.zh))
    assert entry.url.startswith("https://")
    assert str(entry.year) in entry.key
    # What goes into Markdown beside a link must not end it or begin something else.
    assert not re.search(r"[\[\]*_`$<>{}]", entry.authors + entry.title + entry.venue + entry.en + entry.zh)
    assert re.search(r"[\u4e00-\u9fff]", entry.zh) or not re.search(r"[a-z]{6} [a-z]{3}", entry.zh)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_a_paper_is_not_older_than_its_number_says(entry):
    if match := ARXIV.fullmatch(entry.url):
        year, month = 2000 + int(match[1]), int(match[2])
        assert 1 <= month <= 12
        # Published in the year it was sent in, or up to two years later. BatchNorm and the like: same rule.
        assert 0 <= entry.year - year <= 2


def test_no_paper_is_listed_twice():
    for field in ("url", "title"):
        values = [getattr(entry, field) for entry in ENTRIES]
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", [p for p in course.PAGES.values() if p.sources], ids=lambda page: page.stem)
def test_a_pages_sources_are_cited_with_a_link(page, lang):
    for key in page.sources:
        entry, line = bibliography()[key], cited(key, Words(lang))
        assert f"[{entry.title}]({entry.url})" in line
        assert str(entry.year) in line
        assert getattr(entry, lang) in line
