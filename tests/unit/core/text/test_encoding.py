import codecs
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.errors import UsageError
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode, why_not_encodable


@pytest.mark.parametrize(
    ("data", "name", "bom", "text"),
    [
        (b"", "utf-8", False, ""),
        ("é = 1\r\nx\n".encode(), "utf-8", False, "é = 1\r\nx\n"),
        (codecs.BOM_UTF8 + b"x = 1\r", "utf-8", True, "x = 1\r"),
        ("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"), "iso-8859-1", False, None),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'\n".encode("cp1252"), "cp1252", False, None),
        ("# coding: latin-1\rx = 'é'\r".encode("latin-1"), "iso-8859-1", False, None),
        (("# " + "é" * 5000 + "\nx = 1\n").encode(), "utf-8", False, None),
        ("# coding: euc-jp\nx = '日本'\n".encode("euc-jp"), "euc-jp", False, None),
    ],
)
def test_bytes_come_back(data, name, bom, text):
    decoded, encoding = decode(data)
    assert encoding == Encoding(name=name, bom=bom)
    assert text is None or decoded == text
    assert encode(decoded, encoding) == data


@given(st.text(st.characters(codec="utf-8")).filter(lambda text: "coding" not in text and text[:1] != "\ufeff"))
def test_any_text_comes_back(text):
    assert decode(text.encode())[0] == text


@given(st.binary(max_size=80))
def test_any_bytes_come_back_or_are_refused(data):
    with contextlib.suppress(UsageError):
        text, encoding = decode(data)
        assert encode(text, encoding) == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = '\xe9'\n", "cannot be determined"),
        (b"x = 1\ny = 2\nz = '\xe9'\n", "line 3"),
        (b"# coding: klingon\n", "unknown encoding"),
        (b"# coding: rot13\n", "not a text encoding"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "cannot be determined"),
        ("x = 1\n".encode("utf-16"), "cannot be determined"),
    ],
)
def test_what_cannot_be_read_is_named(data, said):
    with pytest.raises(UsageError, match=said) as caught:
        decode(data)
    assert caught.value.remedy


def test_characters_that_do_not_fit():
    latin = Encoding(name="iso-8859-1")
    assert why_not_encodable("é\n", latin) is None
    assert why_not_encodable("x\né → ü\n", latin) == (
        "The character '\\u2192' in line 2 does not exist in the file's encoding iso-8859-1."
    )
    with pytest.raises(UsageError, match="line 2"):
        encode("x\n→", latin)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x = 1\n", "utf-8"),
        ("# coding: latin-1\r\nx\r\n", "iso-8859-1"),
        ("\n\n# coding: latin-1\n", "utf-8"),
        ("# coding: nope\n", "utf-8"),
    ],
)
def test_declared_by_the_text_itself(text, name):
    assert declared_encoding(text).name == name
