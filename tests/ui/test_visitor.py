"""A browser is known by its token, whatever mask it comes under; what is no token names nobody."""

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from ui.visitor import COOKIE, browser_of

TOKEN = bytes(range(16))


def test_the_same_browser_has_one_name_under_every_mask():
    cookies = {generate_xsrf_token_string(TOKEN) for _ in range(20)}
    assert len(cookies) == 20
    names = {browser_of({COOKIE: cookie}) for cookie in cookies} | {
        browser_of({COOKIE: f'"{cookies.pop()}"'})
    }
    (name,) = names
    assert TOKEN.hex() not in name


def test_two_browsers_have_two_names():
    assert browser_of({COOKIE: generate_xsrf_token_string()}) != browser_of(
        {COOKIE: generate_xsrf_token_string()}
    )


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "2",
        "2|||",
        "2|zz|00|1",
        "1|00000000|00|1",
        "2|00000000|00|1",
        "2||000102030405060708090a0b0c0d0e0f|1",
    ],
)
def test_what_is_no_token_names_nobody(cookie):
    assert browser_of({COOKIE: cookie}) is None
    assert browser_of({}) is None
