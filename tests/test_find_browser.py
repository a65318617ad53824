import stat

import pytest

from tests import find_browser


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A machine without any browser, where nothing can be installed."""
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(find_browser, "installed", lambda: iter(()))
    monkeypatch.setattr(find_browser, "playwrights_own", lambda: None)
    monkeypatch.setattr(find_browser, "try_command", lambda *command, **_: False)
    monkeypatch.setattr(find_browser, "NOTE", tmp_path / "browser-path")
    return monkeypatch


@pytest.fixture
def program(tmp_path):
    def make(name: str, body: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


def test_a_stub_that_only_gives_advice_is_not_a_browser(program):
    assert find_browser.runs(program("good", "echo Chromium 150.0"))
    assert not find_browser.runs(program("stub", "echo please install 1 package; exit 1"))
    assert not find_browser.runs(program("silent", "exit 0"))
    assert not find_browser.runs("/no/such/file")


def test_the_first_that_runs_is_taken(alone, program):
    stub, good, other = program("stub", "exit 1"), program("good", "echo 1"), program("other", "echo 2")
    alone.setattr(find_browser, "installed", lambda: iter((stub, good, other)))
    assert find_browser.find() == good
    assert find_browser.browser_path() == good


def test_a_wished_for_browser_wins_or_nothing_does(alone, program):
    alone.setattr(find_browser, "installed", lambda: iter((program("good", "echo 1"),)))
    wished = program("mine", "echo 3")
    alone.setenv("CHROMIUM", wished)
    assert find_browser.find() == wished
    alone.setenv("CHROMIUM", "/no/such/file")
    assert find_browser.find() is None


def test_each_way_is_tried_before_the_next(alone):
    tried = []
    for name in ("playwrights_own", "download", "from_debian"):
        alone.setattr(find_browser, name, lambda name=name: tried.append(name))
    assert find_browser.find() is None
    assert tried == ["playwrights_own", "download", "from_debian"]


def test_without_any_browser_the_advice_says_what_to_install(alone, capsys):
    assert find_browser.main() == 1
    assert "install Chromium or Google Chrome" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="set CHROMIUM"):
        find_browser.browser_path()
    assert not find_browser.NOTE.exists()


def test_what_was_found_is_noted_for_the_tests(alone, program):
    good = program("good", "echo 1")
    alone.setattr(find_browser, "installed", lambda: iter((good,)))
    alone.setattr(find_browser, "look_for_chinese_font", lambda: None)
    assert find_browser.main() == 0
    alone.setattr(find_browser, "installed", lambda: iter(()))
    assert find_browser.browser_path() == good


def test_a_failing_set_up_command_is_survived():
    assert not find_browser.try_command("/no/such/command")
    assert not find_browser.try_command("false")
    assert find_browser.try_command("true")
