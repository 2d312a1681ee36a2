"""Adds to `greenloop doctor`: which promises each sandbox keeps, and the commands that connect editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop.engine.doctor.report import DoctorFinding
from greenloop.plugins.setup import isolation
from greenloop.plugins.setup.editors import installed_editors
from greenloop.project.settings import Settings
from greenloop_sandbox import Probe


async def check_sandboxes(
    rows: Sequence[DoctorFinding], root: Path, settings: Settings, probes: Sequence[Probe]
) -> list[DoctorFinding]:
    """Tries the promises of each back end that can be used."""
    return _with_promises(rows, await isolation.check_isolation(root, settings, probes))


def list_first_steps() -> list[tuple[tuple[str, ...], str]]:
    """The commands that connect the editors of this machine, each with its purpose."""
    return [
        (("setup", editor.name, *["--write"] * bool(editor.file)), f"connect {editor.name}")
        for editor in installed_editors()
    ]


def _with_promises(
    rows: Sequence[DoctorFinding], found: Mapping[str, Sequence[isolation.ProbeResult] | str]
) -> list[DoctorFinding]:
    """Adds its promises after each back end; one that breaks a promise does not count as usable."""
    broken = {
        name: [] if isinstance(results, str) else [each.promise for each in results if each.held is False]
        for name, results in found.items()
    }
    findings: list[DoctorFinding] = []
    for row in rows:
        other = next((name for name in found if name != row.name and not broken[name]), "")
        instead = f"Use the other one: set sandbox.kind = {other}." if other else "Run only code that you trust."
        remedy = f"{instead} docs/security.md says what is promised; please report this."
        if row.ok and broken.get(row.name):
            detail = f"{row.detail}; not held: {', '.join(broken[row.name])}"
            row = replace(row, ok=False, detail=detail, remedy=remedy)  # noqa: PLW2901 - it no longer counts
        findings.append(row)
        results = found.get(row.name, ())
        if isinstance(results, str):
            findings.append(DoctorFinding(part="promise", name=row.name, ok=None, detail=results, status="not tried"))
            continue
        findings += [
            DoctorFinding(
                part="promise",
                name=f"{row.name}: {each.promise}",
                ok=each.held,
                detail=each.probed,
                remedy=remedy if each.held is False else "",
                status=each.status,
            )
            for each in results
        ]
    return findings
