"""A scorer of the user's: a function of the workspace that takes the target and says from 0 to 1 how good it is.

Refining code by a task's score instead of passed and failed is what Code-Driven Planning does (IPP). The setting
`spec.score` is `file.py::function`, or `file.py::function>=0.9`; it runs in the sandbox, as one test.
"""

from __future__ import annotations

import re

from greenloop import sources
from greenloop.core.diff import flat
from greenloop.core.errors import SettingsProblem
from greenloop.core.nouns import Problem, Provenance, Spec
from greenloop.core.ports import Tools
from greenloop.core.sheet import Check, sheet
from greenloop.core.source import FUNCTIONS, plain_name, tree
from greenloop.core.subject import name_line

_SETTING = re.compile(r"(?P<path>[^:]+\.py)::(?P<name>\w+)\s*(?:>=\s*(?P<least>\d+(?:\.\d+)?))?")
REMEDY = "Write `file.py::function`, or `file.py::function>=0.9`."


async def collect(problem: Problem, tools: Tools) -> Spec:
    """One case, that the score is high enough. Raises `SettingsProblem` where there is no such scorer."""
    setting = str(tools.options.get("score", "")).strip()
    if not setting:
        return Spec()
    found = _SETTING.fullmatch(setting)
    if found is None or float(found["least"] or 1) > 1:
        raise SettingsProblem(f"`spec.score` is {setting!r}, which names no scorer.", remedy=REMEDY)
    path, name, least = found["path"], found["name"], float(found["least"] or 1)
    text = sources.text(problem.root, path, problem.buffers)
    module = tree(flat(text or ""))
    if text is None or isinstance(module, SyntaxError):
        why = "is no file of this workspace" if text is None else "does not parse"
        raise SettingsProblem(f"`spec.score` names {path}, which {why}.", remedy=REMEDY)
    if not any(isinstance(node, FUNCTIONS) and node.name == name for node in module.body):
        raise SettingsProblem(f"`spec.score` names {name}, which {path} does not define.", remedy=REMEDY)
    region = problem.regions[0]
    check = Check(
        body=_body(path, name, plain_name(region.qualname), least, depth=region.path.count("/")),
        line=name_line(problem, region),
        provenance=Provenance.SCORE,
        shown=f"{name}({region.qualname}) >= {least:g}",
        imports=("import pathlib", "import runpy"),
    )
    return sheet(region, sources.imported_as(region.path, problem.root), "score", [check])


def _body(path: str, name: str, target: str, least: float, *, depth: int) -> str:
    """The scorer is found by its file, wherever that is; what it says is told in words that are read again."""
    bad = f"{path}::{name} must return a number from 0 to 1, not "
    return "\n".join(
        [
            f"root = pathlib.Path(__file__).parents[{depth}]",
            f"value = runpy.run_path(str(root / {path!r}))[{name!r}]({target})",
            f"assert isinstance(value, (int, float)) and 0 <= value <= 1, {bad!r} + repr(value)",
            f'assert value >= {least!r}, f"score {{value:g}}"',
        ]
    )
