"""What a resident supervisor learns from runs of the user's own code, whatever wall stands around it.

Which packages to import before the fork, and for which selectors a pytest session that was opened before the fork
gives the same outcomes as a fresh one.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.nouns import Execution, Run
from greenloop.core.records import collected, of_kind
from greenloop.core.verdict import forged
from greenloop.sources import CONFIGURATION

log = logging.getLogger(__name__)

PREPARING = 60.0  # seconds for imports and the pytest session
REHEARSED = 5.0  # seconds of a run from which on saving a fraction of one is not worth a second run
UNSURE = 3  # times after which a workspace whose runs differ by themselves is left alone

Stamp = tuple[object, ...]
_ALL = ""  # the selector of a run of everything


@dataclass(kw_only=True)
class Learnt:
    """What runs of the user's own code taught about a workspace.

    `modules` are imported before the fork; `rewritten` too, but after pytest has its session, because they have plugins
    for it; `tried` have been looked at. `agreed` are the selectors, and the ids of the cases that they brought, for
    which a pytest session opened before the fork gave the same outcomes; `session` False: it never shall be used here.
    `unsure` counts the times it could not be told.
    """

    modules: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    agreed: set[str] = field(default_factory=set)
    session: bool = True
    unsure: int = 0
    libraries: Stamp = ()

    def fits(self, run: Run) -> bool:
        """Whether this run may go on with a pytest session opened before the fork."""
        if run.collect or run.trace or run.baseline or run.oracle or not self._knows(run):
            return False
        return not any(path.rpartition("/")[2] in CONFIGURATION for path in (*run.files, *run.without))

    def _knows(self, run: Run) -> bool:
        """Whether each selector was part of a run that agreed, by itself or with its whole file."""
        selectors = run.selectors or (_ALL,)
        return all(selector in self.agreed or selector.split("::", 1)[0] in self.agreed for selector in selectors)

    def about(self, libraries: Stamp) -> None:
        """Forgets everything where other packages are installed than those it was learnt with."""
        if self.libraries != libraries:
            self.modules, self.rewritten, self.tried, self.session, self.libraries = [], [], set(), True, libraries
            self.agreed.clear()
            self.unsure = 0

    @property
    def useful(self) -> bool:
        """Whether a new supervisor should be prepared with it."""
        return bool(self.modules or (self.session and self.agreed))

    def new(self, execution: Execution) -> list[str]:
        """Packages that this run imported and nobody has looked at."""
        names = [str(name) for record in of_kind(execution, "modules") for name in record.get("names", ())]
        return [name for name in names if name not in self.tried]

    def rehearses(self, run: Run, execution: Execution) -> bool:
        """Whether it is worth trying if this run comes to the same in a session opened before the fork."""
        if not self.session or run.collect or self._knows(run):
            return False
        return not execution.killed and execution.seconds < REHEARSED

    def prepared(self, tried: Sequence[str], reply: Mapping[str, object]) -> bool:
        """Takes in a supervisor's `prepared`; False when that supervisor must not be used any more."""
        left_out = reply["left_out"]
        self.tried.update(tried)
        for mine, told in ((self.modules, reply["modules"]), (self.rewritten, reply["rewritten"])):
            assert isinstance(told, list)
            mine += [str(name) for name in told if name not in mine]
        if left_out:
            log.debug("Not imported beforehand: %s", left_out)
        if reply["spoilt"] or not reply["session"]:
            log.info("No pytest session before the fork: %s", reply["spoilt"] or reply["reason"])
            self.session = False
        return not reply["spoilt"]

    def compared(self, run: Run, first: Execution, second: Execution) -> bool:
        """Whether a run in a pytest session opened before the fork came to the same as one without."""
        if not _same(first, second):
            return False
        self.agreed.update(run.selectors or (_ALL,), (case.id for case in collected(first)))
        return True

    def refuted(self, first: Execution, third: Execution) -> bool:
        """Whether what did not come to the same speaks against that session, which is then never used here.

        `third` is a run without it again: a file that was saved meanwhile changes what tests come to, and so does
        chance. Then nothing is known, and a later run tells; but not for ever.
        """
        self.unsure += 1
        if not _same(first, third) and self.unsure < UNSURE:
            return False
        log.info("A pytest session opened before the fork does not agree here; it is not used.")
        self.session = False
        return True


def rehearsal(run: Run) -> Run:
    """The run that is compared with a run of the user's own code."""
    return replace(run, trace=False, baseline=False)


def suspicious(execution: Execution) -> bool:
    """Whether something happened after which a wall had better not be used again."""
    return bool(
        execution.killed in {"memory", "processes"}
        or (execution.status == -9 and not execution.killed)
        or forged(execution)
    )


def _same(first: Execution, second: Execution) -> bool:
    """Whether two executions came to the same: the cases, every phase's outcome, the end."""
    return (_outline(first), first.status, first.killed) == (_outline(second), second.status, second.killed)


def _outline(execution: Execution) -> Mapping[tuple[object, ...], int]:
    found: Counter[tuple[object, ...]] = Counter()
    for record in execution.records:
        if record["kind"] == "phase":
            found[record.get("id"), record.get("when"), record.get("outcome"), record.get("type")] += 1
        elif record["kind"] == "collected":
            found[tuple(str(case["id"]) for case in record["cases"])] += 1
        elif record["kind"] in ("collect_error", "forged"):
            found[record["kind"], record.get("id")] += 1
    return found
