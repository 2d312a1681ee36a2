"""A problem in a real folder, for parts that gather context."""

from __future__ import annotations

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.project import targets
from project_files import write_files

TOOLS = Tools(ask=None, run=None, session=None, user=NoUser(), rng=None)


def problem(root, files, path, *names, created=False, approaches=None):
    write_files(root, files)
    chosen = []
    for name in names:
        found = targets.find_target(files[path], path, name).region
        chosen.append(Region(path=path, qualname=name, start=found.start, end=found.end, created=created))
    return Problem(
        root=root,
        spec=Spec(cases=(Case(id="test_m.py::t", path="test_m.py", line=1),), selectors=()),
        regions=tuple(chosen),
        originals={path: files[path]},
        files={path: files[path]},
        approaches=approaches or {},
    )
