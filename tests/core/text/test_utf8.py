"""UTF-8 by bit operations against Python's codec, and tokens that are only part of a character."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.closed_vocabulary import look_up, numbered
from core.text.tokens import graphemes
from core.text.utf8 import characters, code_point, hexadecimal, is_whole, stretches, utf8


@pytest.mark.parametrize("number", [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF])
def test_the_borders_of_the_lengths(number):
    assert utf8(number) == chr(number).encode("utf-8")


@given(st.characters(exclude_categories=("Cs",)))
def test_every_character_is_encoded_as_python_does(sign):
    point = code_point(ord(sign))
    assert point.encoded == sign.encode("utf-8")
    assert bytes(int(mark + rest, 2) for mark, rest in point.bits) == point.encoded
    assert int("".join(rest for _, rest in point.bits), 2) == ord(sign)


@pytest.mark.parametrize("number", [-1, 0xD800, 0xDFFF, 0x110000])
def test_no_character_is_refused(number):
    with pytest.raises(ValueError, match="no character"):
        code_point(number)


def test_a_family_is_one_character_of_five_code_points():
    (family,) = characters("👨\u200d👩\u200d👧")
    assert [point.number for point in family.points] == [0x1F468, 0x200D, 0x1F469, 0x200D, 0x1F467]
    assert family.n_bytes == 18
    assert characters("鱼")[0].points[0].name == "CJK UNIFIED IDEOGRAPH-9C7C"
    assert graphemes("e\u0301 \u00e9") == ("e\u0301", " ", "\u00e9")


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("鱼".encode(), [("鱼", True)]),
        (b"\xe9\xb1", [("E9 B1", False)]),
        (b"\xb1\xe5\x90", [("B1 E5 90", False)]),
        (b"\xb1\xe5\x90\x83", [("B1", False), ("吃", True)]),
        ("。".encode() + b"\xe8", [("。", True), ("E8", False)]),
        (b" \xf0\x9f", [(" ", True), ("F0 9F", False)]),
        (b"\xc0\x80", [("C0 80", False)]),
        (b"", []),
    ],
)
def test_a_token_by_hand(token, shown):
    assert [(s.text, s.whole) for s in stretches(token)] == shown
    assert is_whole(token) == all(whole for _, whole in shown)


@given(st.binary(max_size=20))
def test_nothing_is_lost_and_nothing_is_replaced(token):
    made = b"".join(s.text.encode() if s.whole else bytes.fromhex(s.text) for s in stretches(token))
    assert made == token
    try:
        codecs.decode(token, "utf-8")
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert is_whole(token) == valid
    assert bytes.fromhex(hexadecimal(token)) == token


def test_a_closed_vocabulary_numbers_by_frequency_and_has_one_number_for_strangers():
    known = numbered(["b", "a", "b", "c", "a", "b"])
    assert known == {"b": 1, "a": 2, "c": 3}
    assert numbered(["z", "y"]) == {"y": 1, "z": 2}
    assert look_up(["c", "鱼", "b", "?"], known) == (3, 0, 1, 0)
