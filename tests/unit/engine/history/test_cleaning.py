"""What of this machine is taken out of a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.engine.history.cleaning import cleaner


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ("/w/m.py", "./m.py"),
        (f"{Path.home()}/x", "~/x"),
        ({"a": ["x s3cr3t-value", 3, None]}, {"a": ["x [redacted]", 3, None]}),
    ],
)
def test_folders_and_secrets(value, clean):
    assert cleaner(Path("/w"), ["s3cr3t-value"])(value) == clean


def test_the_root_of_the_machine_is_in_every_path_and_stays():
    assert cleaner(Path("/"), [])("/usr/lib") == "/usr/lib"
