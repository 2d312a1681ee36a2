"""File URIs: POSIX, Windows, sloppy and strict spellings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.text.uris import path_from_uri, uri_from_path


@pytest.mark.parametrize(
    ("uri", "windows", "path"),
    [
        ("file:///home/u/m.py", False, "/home/u/m.py"),
        ("file:///home/u/a%20b%23c.py", False, "/home/u/a b#c.py"),
        ("file:///home/u/a b.py", False, "/home/u/a b.py"),
        ("file:///home/u/gr%C3%BCn.py", False, "/home/u/grün.py"),
        ("file:///home/u/100%25.py", False, "/home/u/100%.py"),
        ("file:///home/u/what?.py", False, "/home/u/what?.py"),
        ("file:///home/u/a#b.py", False, "/home/u/a#b.py"),
        ("file:///home/u/%FF.py", False, "/home/u/\udcff.py"),
        ("FILE:///x.py", False, "/x.py"),
        ("file://localhost/x.py", False, "/x.py"),
        ("file:///c%3A/Users/u/m.py", True, r"C:\Users\u\m.py"),
        ("file:///C:/Users/u/m.py", True, r"C:\Users\u\m.py"),
        ("file:///c|/m.py", True, r"C:\m.py"),
        ("file:///d:", True, "D:\\"),
        ("file://server/share/a%20b.py", True, r"\\server\share\a b.py"),
        ("untitled:Untitled-1", False, None),
        ("vscode-notebook-cell:/home/u/n.ipynb#W0", False, None),
    ],
)
def test_path_from_uri(uri, windows, path):
    assert path_from_uri(uri, windows=windows) == path


@pytest.mark.parametrize(
    ("path", "windows", "uri"),
    [
        ("/home/u/a b#c.py", False, "file:///home/u/a%20b%23c.py"),
        ("/home/u/what?.py", False, "file:///home/u/what%3F.py"),
        ("/home/u/grün.py", False, "file:///home/u/gr%C3%BCn.py"),
        ("c:\\Users\\u\\m.py", True, "file:///C:/Users/u/m.py"),
        ("\\\\server\\share\\m.py", True, "file://server/share/m.py"),
        ("\\\\?\\C:\\m.py", True, "file:///C:/m.py"),
        ("\\\\?\\UNC\\server\\share\\m.py", True, "file://server/share/m.py"),
    ],
)
def test_uri_from_path(path, windows, uri):
    assert uri_from_path(path, windows=windows) == uri


def test_a_relative_path_has_no_uri():
    with pytest.raises(ValueError, match="not an absolute path"):
        uri_from_path("m.py", windows=False)


@given(st.text(st.characters(exclude_characters="\0"), max_size=30))
def test_posix_paths_come_back(name):
    path = "/" + name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    if not path.startswith("//"):
        assert path_from_uri(uri_from_path(path, windows=False), windows=False) == path
