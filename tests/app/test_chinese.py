"""Chinese as it comes out, with values filled in: what the templates alone do not show."""

import re

import pytest

from tests.app.harness import open_page
from ui.words import Words

TABS = {
    "positions": ("curves", "rotation", "learned", "turning", "layouts", "alibi", "long", "order"),
    "feed_forward": ("curves", "one", "backward", "swiglu", "experts", "balance", "sizes"),
}
NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\[[^\]]*\]", re.DOTALL)
WIDE = "，。；：、？！（）“”《》"
HAN = "一-鿿"


def prose(app) -> str:
    """All that the page says, without code, formulas and shapes in brackets."""
    said = [*app.markdown, *app.caption, *app.info]
    return NOT_PROSE.sub("·", "\n".join(element.value for element in said))


def bracketed() -> list[tuple[str, str, str]]:
    """Every choice whose Chinese name ends with a wide bracket: (page, control, value)."""
    found = []
    for stem in TABS:
        choices = Words("zh", stem).table("choice")
        found += [(stem, *key.split(".", 1)) for key, name in choices.items() if name.endswith("）")]
    return sorted(found)


@pytest.mark.parametrize(("stem", "name", "value"), bracketed())
def test_no_space_follows_a_name_that_ends_with_a_wide_bracket(stem, name, value):
    for tab in TABS[stem]:
        text = prose(open_page(stem, {"lang": "zh", name: value}, tab=tab))
        assert not re.search(rf"[{WIDE}] +[{HAN}]|[{HAN}] +[{WIDE}]", text), (tab, text)


@pytest.mark.parametrize(("stem", "tab"), [(stem, tab) for stem, tabs in TABS.items() for tab in tabs])
def test_lists_of_numbers_have_chinese_marks(stem, tab):
    text = prose(open_page(stem, {"lang": "zh"}, tab=tab))
    assert len(re.findall(rf"[{HAN}]", text)) > 200
    assert not re.search(r"[0-9…], [0-9−…]", text), text
