"""A client may touch the folders of its server, and nothing that they link to outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.errors import UsageError
from greenloop.plugins.agents.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Service:
    for name in ("first", "second", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "first" / "inner").mkdir()
    (tmp_path / "first" / "link").symlink_to(tmp_path / "other")
    (tmp_path / "first" / "file").write_text("")
    return Service(roots=(tmp_path / "first", tmp_path / "second"))


@pytest.mark.parametrize(
    ("typed", "folder"), [("", "first"), (".", "first"), ("inner", "first/inner"), ("../second", "second")]
)
def test_a_folder_of_the_roots_is_found(service, tmp_path, typed, folder):
    assert service.find_folder(typed) == tmp_path / folder
    assert service.find_folder(str(tmp_path / folder)) == tmp_path / folder


@pytest.mark.parametrize("typed", ["..", "/", "../other", "link", "inner/../../other"])
def test_a_folder_outside_the_roots_is_refused_with_a_remedy(service, typed):
    with pytest.raises(UsageError, match="outside the folders") as refused:
        service.find_folder(typed)
    assert "--root" in refused.value.remedy


@pytest.mark.parametrize("typed", ["file", "missing"])
def test_what_is_no_folder_is_refused(service, typed):
    with pytest.raises(UsageError, match="is not a folder"):
        service.find_folder(typed)


def test_a_model_that_reads_a_file_stays_inside_the_roots(service, tmp_path):
    folder = tmp_path / "first"
    assert service.check_model("ollama/llama3.2", folder) == "ollama/llama3.2"
    assert service.check_model("scripted:file", folder) == f"scripted:{folder / 'file'}"
    with pytest.raises(UsageError, match="outside the folders"):
        service.check_model("replay:../other/file", folder)
