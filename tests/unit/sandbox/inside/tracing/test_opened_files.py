"""Which reads of files count, and whose they are."""

from __future__ import annotations

import pytest

from inside import load

opened_files = load("opened_files")


@pytest.mark.parametrize(
    ("statement", "pairs"),
    [
        ("open(root + '/a.txt').close()", {("a.txt", "pkg/m.py")}),
        ("open(root.encode() + b'/a.txt', 'rb').close()", {("a.txt", "pkg/m.py")}),
        ("open(root + '/new.txt', 'w').close()", set()),
        ("open(root + '/a.txt', mode='r+').close()", {("a.txt", "pkg/m.py")}),
        ("open(root + '/m.py').close()", set()),
        ("open(root + '/.venv/x.txt').close()", set()),
        ("open('/dev/null').close()", set()),
    ],
)
def test_reads_of_the_workspace_are_noted_with_their_module(tmp_path, statement, pairs):
    for name in ("a.txt", "m.py", ".venv/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    opened = opened_files._Opened(str(tmp_path), (".venv",))
    code = compile(statement, str(tmp_path / "pkg" / "m.py"), "exec")
    exec(code, {"open": opened.wrap(open), "root": str(tmp_path)})
    assert opened.pairs == pairs


@pytest.mark.parametrize(
    ("argument", "error"), [([], TypeError), ("a\0b", ValueError), ("/nothing", FileNotFoundError)]
)
def test_errors_are_those_of_open(tmp_path, argument, error):
    opened = opened_files._Opened(str(tmp_path), ())
    with pytest.raises(error):
        opened.wrap(open)(argument)
