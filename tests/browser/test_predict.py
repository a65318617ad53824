"""Predict first in a real Chromium: by keyboard, with hands counted, kept out of the link; every look fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

SAY = {
    "en": {"open": "Predict first", "set_up": "Set this up", "count": "Count hands", "show": "Show me"}
    | {"back": "Back to where I was", "rises": "It rises", "right": "Your guess was right"},
    "zh": {"open": "先猜后看", "set_up": "这样设置", "count": "数举手", "show": "看结果"}
    | {"back": "回到原来的设置", "rises": "变大", "right": "你猜对了"},
}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settle(page)


def test_a_guess_by_keyboard_from_question_to_answer_and_back(open_page):
    page = open_page("attention")
    before = page.url
    page.get_by_role("button", name="Predict first").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Set this up")).to_be_visible()
    page.get_by_role("button", name="Set this up").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="It rises")).to_be_visible()
    settle(page)
    page.get_by_role("radio", name="It rises").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="It rises")).to_be_checked()
    settle(page)
    assert page.get_by_text("Averaged over the queries").count() == 0
    assert "scaled=1" in page.url
    page.get_by_role("button", name="Show me").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your guess was right")).to_be_visible()
    expect(page.get_by_text("Averaged over the queries")).to_be_visible()
    settle(page)
    assert "scaled=0" in page.url
    press(page, "Back to where I was")
    expect(page.get_by_role("slider", name="d_k")).to_have_value("8")
    settle(page)
    assert page.url == before


def test_a_class_is_counted_with_buttons_that_one_does_not_miss(open_page):
    page = open_page("attention")
    press(page, "Predict first")
    press(page, "Set this up")
    press(page, "Count hands")
    for option, hands in (("It rises", 3), ("It falls", 1)):
        button = page.get_by_role("button", name=f"+1 · {option}")
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 120
        for _ in range(hands):
            button.click()
            settle(page)
    link = page.url
    press(page, "Show me")
    expect(page.get_by_text("3 of 4 hands were right.")).to_be_visible()
    settle(page)
    assert page.url == link.replace("scaled=1", "scaled=0")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 1400)], ids=["laptop", "phone"])
def test_each_look_is_kept_as_a_picture_and_fits(open_page, lang, dark, width, height):
    say, look = SAY[lang], f"{lang} {'dark' if dark else 'light'} {width}"
    page = open_page("attention", lang, dark=dark, width=width, height=height)
    press(page, say["open"])
    press(page, say["set_up"])
    page.get_by_text(say["rises"], exact=True).click()
    settle(page)
    press(page, say["count"])
    press(page, f"+1 · {say['rises']}")
    assert sideways_scroll(page) == 0
    shot(page, f"predict question {look}")
    press(page, say["show"])
    expect(page.get_by_text(say["right"])).to_be_visible()
    assert sideways_scroll(page) == 0
    shot(page, f"predict answer {look}")
