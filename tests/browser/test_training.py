"""The training page in a real Chromium: a run that goes on while the language changes, and a picture of each look."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll

PATIENCE = 300_000  # ms: the process that trains loads PyTorch first, and the machine may be busy
SMALL = {"width": 16, "layers_a": 1, "layers_b": 2, "norm_a": "pre", "steps": 400}


def main(page):
    return page.get_by_test_id("stMain")


def button(page, name):
    return main(page).get_by_role("button", name=name, exact=True)


def test_the_browser_that_started_a_run_can_stop_it_after_a_reload_and_no_other_can(open_page):
    long = SMALL | {"layers_b": 24, "seed": 7}
    page = open_page("training", params=long)
    button(page, "Start").click()
    expect(button(page, "Stop")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Training: step")).to_be_visible(timeout=PATIENCE)
    page.reload()
    expect(button(page, "Stop")).to_be_visible(timeout=PATIENCE)
    other = open_page("training", params=long, still=False)
    expect(other.get_by_text("started from another browser")).to_be_visible(timeout=PATIENCE)
    expect(button(other, "Start")).to_be_disabled()
    expect(button(other, "Stop")).to_have_count(0)
    button(page, "Stop").click()
    expect(button(page, "Continue")).to_be_visible(timeout=PATIENCE)
    page.reload()
    expect(button(page, "Continue")).to_be_visible(timeout=PATIENCE)


def test_what_the_numbers_mean_begins_in_the_first_view_and_nothing_hides_start(open_page):
    page = open_page("training", params=SMALL, lang="en")
    button(page, "Contrasts").click()
    page.get_by_text("What dropout is for: 0 against 0.3, held-out loss", exact=True).click()
    settle(page)
    expect(button(page, "B: dropout 0.3")).to_be_visible()
    assert "drop_b=0.3" in page.url
    button(page, "Start").click()  # the list has closed behind the choice
    expect(page.get_by_text("Ended: A after step 300")).to_be_visible(timeout=PATIENCE)
    settle(page)
    for title in ("Why this number", "What to notice"):
        box = main(page).get_by_role("heading", name=title).bounding_box()
        assert box["y"] + box["height"] < 768 - 60, f"{title}, and its beginning"
    dark = button(page, "Start").locator("p").evaluate("e => getComputedStyle(e).color")
    ground = button(page, "Start").evaluate("e => getComputedStyle(e).backgroundColor")
    assert dark != ground, "also a button that cannot be pressed has a name"
    assert not dark.startswith("rgb(255, 255, 255"), dark
    shot(page, "training en ended")
    page.get_by_text("Attention maps", exact=True).click()
    settle(page)
    assert "view=maps" in page.url
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(1)
    button(page, "B: dropout 0.3").click()
    expect(page.get_by_text("B: smoothing", exact=True)).to_be_visible()
    shot(page, "training more")


def test_a_run_goes_on_while_the_language_changes(open_page):
    page = open_page("training", params=SMALL, width=1366, height=768)
    main(page).get_by_role("button", name="Start", exact=True).click()
    expect(main(page).get_by_role("button", name="Stop", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Training: step")).to_be_visible(timeout=PATIENCE)
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_text("已结束：共 400 步，A 止于第 400 步")).to_be_visible(timeout=PATIENCE)
    settle(page)  # nothing asks the server any more
    assert "steps=400" in page.url
    assert "lang=zh" in page.url
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(3)
    shot(page, "training zh ended")
    page.get_by_test_id("stMain").get_by_role("button", name="|◀").click()
    settle(page)
    assert "at=0" in page.url
    expect(page.get_by_text("第 1 步之后").first).to_be_visible()


def test_the_looks(open_page):
    page = open_page("training", width=1366, height=768)
    shot(page, "training en")
    start = main(page).get_by_role("button", name="Start", exact=True).bounding_box()
    assert start["y"] + start["height"] < 500, "the way to begin is in the first view"
    # By now the other test has run these settings on this server: they are shown at once.
    page = open_page("training", lang="zh", width=390, height=844, params=SMALL)
    for tab in ("梯度", "头的形成", "数据"):
        page.get_by_text(tab, exact=True).click()
        settle(page)
        assert sideways_scroll(page) == 0
    shot(page, "training phone", full=True)
