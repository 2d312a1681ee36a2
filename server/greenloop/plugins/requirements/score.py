"""Runs the user's scorer: a function of the workspace that takes the target and rates it from 0 to 1.

Code-Driven Planning (IPP) also refines code by a task's score instead of passed and failed. The setting `spec.score` is
`file.py::function`, or `file.py::function>=0.9`; the scorer runs in the sandbox, as one test.
"""

from __future__ import annotations

import re

from greenloop.core.errors import SettingsError
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.python.ast_source import FUNCTIONS, parse_module, plain_name
from greenloop.core.records.spec import Provenance
from greenloop.core.records.verdict import Verdict
from greenloop.core.requirements import Requirement, Ruling, Start, Trial, name_line
from greenloop.core.text.diff import with_plain_ends
from greenloop.project import sources

_SETTING = re.compile(r"(?P<path>[^:]+\.py)::(?P<name>\w+)\s*(?:>=\s*(?P<least>\d+(?:\.\d+)?))?")
_SCORE = re.compile(r"(?:AssertionError: )?score (\d(?:\.\d+)?(?:e-\d+)?)\b")
REMEDY = "Write `file.py::function`, or `file.py::function>=0.9`."


async def begin(start: Start) -> Requirement:
    """One case: the score is high enough. Raises `SettingsError` where the scorer does not exist."""
    setting, problem = str(start.tools.options.get("spec.score", "")).strip(), start.problem
    match = _SETTING.fullmatch(setting)
    if match is None or float(match["least"] or 1) > 1:
        raise SettingsError(f"`spec.score` is {setting!r}, which does not name a scorer.", remedy=REMEDY)
    path, name, minimum = match["path"], match["name"], float(match["least"] or 1)
    text = sources.read_text(problem.root, path, problem.buffers)
    module = parse_module(with_plain_ends(text or ""))
    if text is None or isinstance(module, SyntaxError):
        reason = "is not a file of this workspace" if text is None else "does not parse"
        raise SettingsError(f"`spec.score` names {path}, which {reason}.", remedy=REMEDY)
    if not any(isinstance(node, FUNCTIONS) and node.name == name for node in module.body):
        raise SettingsError(f"`spec.score` names {name}, which {path} does not define.", remedy=REMEDY)
    region = problem.regions[0]
    check = Check(
        body=_body(path, name, plain_name(region.qualname), minimum, depth=region.path.count("/")),
        line=name_line(problem, region),
        provenance=Provenance.SCORE,
        shown=f"{name}({region.qualname}) >= {minimum:g}",
        imports=("import pathlib", "import runpy"),
    )
    spec = build_test_file(region, sources.import_name_in_tests(region.path, problem.root), "score", [check])
    return Requirement(name="score", spec=spec, judge=judge)


async def judge(trial: Trial, tests: Verdict) -> Ruling:
    """The share that the scorer reported, where that is not enough."""
    own = {case.id for case in trial.problem.spec.cases if case.provenance is Provenance.SCORE}
    failures = {case.id: case.failure for case in tests.cases if case.id in own and not case.passed and case.failure}
    matches = {id_: _SCORE.match(each.message) for id_, each in failures.items() if each.type == "AssertionError"}
    return Ruling(shares={id_: min(float(match[1]), 1.0) for id_, match in matches.items() if match})


def _body(path: str, name: str, target: str, least: float, *, depth: int) -> str:
    """The test's body. It finds the scorer by its file; `judge` reads the score from the assertion message."""
    complaint = f"{path}::{name} must return a number from 0 to 1, not "
    return "\n".join(
        [
            f"root = pathlib.Path(__file__).parents[{depth}]",
            f"value = runpy.run_path(str(root / {path!r}))[{name!r}]({target})",
            f"assert isinstance(value, (int, float)) and 0 <= value <= 1, {complaint!r} + repr(value)",
            f'assert value >= {least!r}, f"score {{value:g}}"',
        ]
    )
