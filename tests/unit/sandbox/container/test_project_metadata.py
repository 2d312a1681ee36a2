"""The metadata of a project in an image."""

from __future__ import annotations

from greenloop_sandbox.container import project_metadata
from greenloop_sandbox.locks.project import ProjectMetadata


def test_the_metadata_of_a_project_cannot_say_more_than_it_is():
    told = ProjectMetadata(
        name="my\nproject/..", version="1\nEvil: x", entry_points={"console_scripts": {"a]\n[b": "m:f\nother = n:g"}}
    )
    files = project_metadata.metadata_files(told)
    assert all(path.startswith("project/") and ".." not in path.split("/") for path in files)
    (about,) = [data.decode() for path, data in files.items() if path.endswith("METADATA")]
    assert about.splitlines()[1:] == ["Name: my project/..", "Version: 1 Evil: x"]
    folders = "/w/src:/.greenloop/run/project"
    assert project_metadata.environ(ProjectMetadata(name="x", sources=("src",)), "/w") == {"PYTHONPATH": folders}
    assert project_metadata.metadata_files(ProjectMetadata()) == {}
    assert project_metadata.environ(ProjectMetadata(), "/w") == {}
