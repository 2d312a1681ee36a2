"""How packages get into an image, without an engine: pip that starts nothing, wheels that stay in their folders."""

from __future__ import annotations

import json
import tarfile
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.locks.project import Project
from greenloop.sandboxes.container import build, fetch, guarded_pip, image_python, os_release, prune, unpack_wheels
from greenloop.sandboxes.container.bounded_process import ProgramError
from greenloop.sandboxes.container.engine import Engine

PATHS = {
    "purelib": "/usr/lib/site",
    "platlib": "/usr/lib/site",
    "scripts": "/usr/bin",
    "data": "/usr",
    "include": "/usr/include",
}
SAID = {"paths": PATHS, "executable": "/usr/bin/python3", "libc": ["glibc", "2.36"], "markers": {}}
SAID["markers"] = {"python_version": "3.11", "platform_machine": "x86_64"}
FACTS = image_python.parse("a warning\n" + json.dumps(SAID))


# -- what the image's Python is ---------------------------------------------------------------------------------


def test_platforms_are_the_newest_first_down_to_the_oldest():
    found = FACTS.platforms()
    assert found[0] == "manylinux_2_36_x86_64"
    assert [
        found.index(name) for name in ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")
    ] == sorted(found.index(name) for name in ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"))
    assert found[-1] == "linux_x86_64"
    arm = image_python.parse(json.dumps({**SAID, "markers": {**SAID["markers"], "platform_machine": "aarch64"}}))
    assert "manylinux2014_aarch64" in arm.platforms()
    assert "manylinux1_aarch64" not in arm.platforms()
    assert image_python.parse(json.dumps({**SAID, "libc": ["", ""]})).platforms() == ["linux_x86_64"]


@pytest.mark.parametrize("said", ["", "Traceback", "{}", '{"libc": 5}', "[1]"])
def test_a_python_that_does_not_say_what_it_is_is_one_sentence(said):
    with pytest.raises(CannotVerifyError, match="cannot be identified"):
        image_python.parse(said)


# -- pip on this machine ----------------------------------------------------------------------------------------


def test_only_a_keyring_may_be_asked():
    with pytest.raises(PermissionError, match="pip may not start"):
        guarded_pip._deny_programs("subprocess.Popen", ("/usr/bin/git", [], None, None))
    with pytest.raises(PermissionError):
        guarded_pip._deny_programs("os.system", (b"keyring",))
    guarded_pip._deny_programs("subprocess.Popen", ("/usr/bin/keyring", [], None, None))
    guarded_pip._deny_programs("open", ("/usr/bin/git",))


@pytest.mark.parametrize(
    ("output", "kind", "said"),
    [
        ("ERROR: No matching distribution found for thing==1.0", fetch.NoWheelError, "^thing$"),
        ("WARNING: x\nERROR: Cannot install a and b\nERROR: ResolutionImpossible: for help", ProgramError, "Cannot install a and b"),
        ("NewConnectionError: [Errno 111] Connection refused')': /simple/\nERROR: No matching distribution found for x", CannotVerifyError, "cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM x.\n    a==1 from y:\n  Expected sha256 0", CannotVerifyError, "a==1: the file on your package index does not match"),
        ("", ProgramError, "no output"),
    ],
)  # fmt: skip
def test_what_pip_says_becomes_one_sentence(output, kind, said):
    failed = ProgramError("x")
    failed.output = output
    problem = fetch._explain(failed)
    assert type(problem) is kind
    with pytest.raises(kind, match=said):
        raise problem


# -- wheels as files --------------------------------------------------------------------------------------------


def wheel(tmp_path: Path, files: dict[str, str], name: str = "thing-1.0-py3-none-any.whl") -> Path:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path


def unpacked(tmp_path: Path, file: Path, target: str = "") -> dict[str, tuple[int, str]]:
    layer = unpack_wheels.LayerArchive(tmp_path / "layer.tar", FACTS)
    try:
        layer.add_wheels([file], target)
    finally:
        layer.close()
    with tarfile.open(tmp_path / "layer.tar") as tar:
        return {
            member.name: (member.mode, tar.extractfile(member).read().decode()) for member in tar if member.isfile()
        }


FILES = {
    "thing/__init__.py": "X = 1\n",
    "thing-1.0.data/scripts/tool": "#!python -E\nprint(1)\n",
    "thing-1.0.data/data/share/x": "data",
    "thing-1.0.data/headers/x.h": "h",
    "thing-1.0.dist-info/entry_points.txt": "[console_scripts]\nrun = thing.cli:main.go\n../evil = thing:x\n[other]\ny = z\n",
}


def test_a_wheel_is_laid_as_an_installer_would(tmp_path):
    found = unpacked(tmp_path, wheel(tmp_path, FILES))
    assert found["usr/lib/site/thing/__init__.py"] == (0o644, "X = 1\n")
    assert found["usr/bin/tool"] == (0o755, "#!/usr/bin/python3\nprint(1)\n")
    assert found["usr/share/x"] == (0o644, "data")
    assert found["usr/include/thing/x.h"] == (0o644, "h")
    mode, script = found["usr/bin/run"]
    assert mode == 0o755
    assert "from thing.cli import main\n" in script
    assert "sys.exit(main.go())" in script
    assert not any("evil" in path for path in found)


def test_a_target_takes_everything(tmp_path):
    found = unpacked(tmp_path, wheel(tmp_path, {**FILES, "thing/run/__init__.py": ""}), "/build/site")
    assert all(path.startswith("build/site/") for path in found)
    assert "build/site/thing/__init__.py" in found


@pytest.mark.parametrize(
    "inner", ["../evil.py", "/etc/evil", "a/../../evil", "thing-1.0.data/scripts/../../evil", "a\\b"]
)
def test_a_wheel_that_would_leave_its_folder_is_refused(tmp_path, inner):
    with pytest.raises(CannotVerifyError, match=r"thing-1\.0-py3-none-any\.whl cannot be unpacked"):
        unpacked(tmp_path, wheel(tmp_path, {inner: "x"}))


def test_what_is_no_wheel_and_what_is_too_large_are_refused(tmp_path, monkeypatch):
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(CannotVerifyError, match="x.whl cannot be unpacked"):
        unpacked(tmp_path, tmp_path / "x.whl")
    monkeypatch.setattr(unpack_wheels, "MAX_BYTES", 3)
    with pytest.raises(CannotVerifyError, match="more than"):
        unpacked(tmp_path, wheel(tmp_path, FILES))


def test_what_a_source_needs_is_read_from_its_files(tmp_path):
    assert build.read_build_settings(tmp_path) == (
        ["setuptools", "wheel", "wheel"],
        "setuptools.build_meta:__legacy__",
        [],
    )
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core>=3']\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    assert build.read_build_settings(tmp_path) == (["flit_core>=3"], "backend", ["."])


# -- the project ------------------------------------------------------------------------------------------------


def test_the_metadata_of_a_project_cannot_say_more_than_it_is():
    told = Project(
        name="my\nproject/..", version="1\nEvil: x", entry_points={"console_scripts": {"a]\n[b": "m:f\nother = n:g"}}
    )
    files = os_release.metadata_files(told)
    assert all(path.startswith("project/") and ".." not in path.split("/") for path in files)
    (about,) = [data.decode() for path, data in files.items() if path.endswith("METADATA")]
    assert about.splitlines()[1:] == ["Name: my project/..", "Version: 1 Evil: x"]
    assert os_release.python_path(Project(name="x", sources=("src",)), "/w") == "/w/src:/.greenloop/run/project"
    assert os_release.metadata_files(Project()) == {}
    assert os_release.python_path(Project(), "/w") == ""


# -- unused images ----------------------------------------------------------------------------------------------


class Images:
    def __init__(self, *tags: str) -> None:
        self.tags, self.removed = tags, []

    def list(self, filters: dict) -> list[SimpleNamespace]:
        assert filters == {"label": ["dev.greenloop.image"]}
        return [SimpleNamespace(tags=[tag]) for tag in self.tags]

    def remove(self, name: str) -> None:
        if "busy" in name:
            raise OSError("in use")
        self.removed.append(name)


def test_images_are_removed_after_a_month_and_looked_at_once_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    images = Images(
        "greenloop-project:old",
        "localhost/greenloop-project:new",
        "greenloop-project:busy",
        "greenloop-project:others",
        "greenloop-base:3.11",
    )
    engine = Engine(client=SimpleNamespace(images=images), errors=(OSError,), name="Docker", version="1")
    now = time.time()
    long_ago = now - 31 * prune.DAY
    prune._write({"greenloop-project:old": long_ago, "greenloop-project:busy": long_ago})
    prune.record_use("greenloop-project:new")
    assert prune.prune_daily(engine) == ["greenloop-project:old"] == images.removed
    assert prune.prune_daily(engine) == []
    known = prune._read()
    assert known["greenloop-project:others"] >= now  # not seen before: it counts as used now
    assert known["greenloop-project:busy"] == long_ago
    assert "greenloop-project:old" not in known


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": "b"}'])
def test_a_broken_memory_of_images_is_an_empty_one(tmp_path, monkeypatch, text):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "greenloop").mkdir()
    (tmp_path / "greenloop" / "images.json").write_text(text)
    assert prune._read() == {}
