"""A task is given to the engine in its user's own folder, unchanged, or in a new one."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop.project.settings import Settings
from greenloop_lab.bench.task_folder import lay_out_task
from greenloop_lab.bench.tasks import Task

SETTINGS = Settings()


def test_the_files_of_a_task_are_written_into_a_new_folder(tmp_path):
    files = {"m.py": "x = 1\n", "package/n.py": "é = 2\n"}
    task = Task(id="t", kind="k", target="t", files=files, cases=("c",))
    place = lay_out_task(task, tmp_path, SETTINGS)
    assert place.root != tmp_path
    assert {path: (place.root / path).read_text(encoding="utf-8") for path in files} == files
    assert place.variables == {}


def test_a_folder_of_the_user_is_used_as_it_is_and_never_where_it_changed(tmp_path):
    user, new = tmp_path / "user", tmp_path / "new"
    user.mkdir()
    (user / "m.py").write_text("x = 1\n")
    task = Task(id="t", kind="k", target="t", files={}, cases=("c",), solution={"m.py": "x = 1\n"}, folder=str(user))
    assert lay_out_task(task, new, SETTINGS).root == user
    assert not new.exists()
    (user / "m.py").write_text("x = 2\n")
    with pytest.raises(UsageError, match="has changed since t was made from it"):
        lay_out_task(task, new, SETTINGS)
