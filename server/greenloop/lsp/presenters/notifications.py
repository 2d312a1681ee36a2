"""Messages about a run: its end, a refusal, and its start where the editor shows no progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.summary import count_cases, describe_sandbox
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.presenters.attempt_line import line_of
from greenloop.lsp.runs.apply_edit import BY_ACTION
from greenloop.notebook.cell_labels import label_text as notebook_named

if TYPE_CHECKING:
    from greenloop.lsp.runs.apply_edit import Landing
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

# Ends that say nothing about the attempts: the user must fix something before a run makes sense.
OUTSIDE = (StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED)


def began(server: Server, run: Run) -> None:
    if not server.abilities.progress:
        client_requests.tell(
            server, f"Refining {run.name} until its tests pass; diagnostics and hover show how it goes."
        )


def waits(server: Server, run: Run) -> None:
    client_requests.tell(server, f"{run.name} is refined as soon as its turn comes; {run.ahead} before it.")


def tested(server: Server, run: Run) -> None:
    server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message=line_of(run.attempts[-1])))


def failed(server: Server, run: Run, error: GreenloopError) -> None:
    run.refused, run.refusal = clean_for_display(error.advice), error.kind
    client_requests.refused(
        server,
        clean_for_display(str(error)),
        reason=error.kind,
        remedy=clean_for_display(error.remedy),
        uri=run.uri,
        target=run.target.selector,
    )


def broke(server: Server, run: Run) -> None:
    run.refused = f"Refining {run.name} failed unexpectedly; the server's log (greenloop.showLog) has the details."
    run.refusal = "failed"
    client_requests.refused(server, run.refused, reason=run.refusal, uri=run.uri, target=run.target.selector)


def ended(server: Server, run: Run, outcome: Outcome, landing: Landing | None) -> None:
    """Reports the result, its evidence, and where it was applied or how to apply it."""
    if landing is not None and landing.applied:
        _landed(server, run, outcome, landing)
        return
    text = named(server, run, sentence(run, outcome, landing))
    if outcome.reason in OUTSIDE:
        word, about = outcome.reason.value, {"uri": run.uri, "target": run.target.selector}
        client_requests.refused(server, text, reason=word, kind=_kind(outcome), **about)
    else:
        client_requests.tell(server, text, _kind(outcome))


def sentence(run: Run, outcome: Outcome, landing: Landing | None) -> str:
    """The end of a run that changed no text, in one or two sentences."""
    condition = " once that is settled" if landing and landing.why not in ("", BY_ACTION) else ""
    subject = "it" if outcome.solved else "the best attempt"
    apply = f" 'Apply refined {run.result}' puts {subject} in{condition}." if run.changes and run.gained else ""
    message = clean_for_display(outcome.message).strip()
    if outcome.reason is StopReason.ALREADY_GREEN:
        return message or f"{run.name} is already green."
    if outcome.solved:
        not_applied = f"; not applied: {landing.why}" if landing and landing.why else "; not applied by itself"
        merge_note = ", also together with what you typed" if landing and landing.merged else ""
        return f"{run.name}: {standing(outcome)}{merge_note}{not_applied}.{apply}"
    return f"{not_solved(run.name, message or outcome.reason.value).rstrip('.')}.{apply}"


def not_solved(name: str, why: str) -> str:
    """`double is not solved: …`, or `double is not solved after 2 attempts: …`."""
    if why.startswith("Not solved "):
        return f"{name} is not{why.removeprefix('Not')}"
    return f"{name} is not solved: {why}" if why else f"{name} is not solved"


def standing(outcome: Outcome) -> str:
    """The verdict with its evidence in brackets; for an unsolved run, how many tests its best attempt passes."""
    labels = {Verified.PARTIALLY: "partially verified"}
    counted = counts(outcome.evidence)
    best = next((each.verdict for each in outcome.attempts if each.number == outcome.best and each.verdict.total), None)
    if best is not None and not outcome.solved:
        counted = f"{best.passed} of {best.total} passed" + (f", {counted}" if counted else "")
    label = labels.get(outcome.verified, outcome.verified.value) if outcome.solved else "not verified"
    if outcome.evidence.sandbox == "none":
        label += ": no sandbox"
    return f"{label} ({counted})" if counted else label


def counts(evidence: Evidence) -> str:
    parts = count_cases(evidence)
    if evidence.neighbours_unchanged:
        parts.append(f"neighbours {evidence.neighbours_unchanged} unchanged")
    if evidence.neighbours_already_failing:
        parts.append(f"already failing before {evidence.neighbours_already_failing}")
    if evidence.neighbours_left_out:
        parts.append(f"neighbours not run {evidence.neighbours_left_out}")
    if evidence.neighbours_flaky:
        parts.append(f"neighbours flaky {evidence.neighbours_flaky}")
    if evidence.canary_total:
        parts.append(f"canaried {evidence.canaried} of {evidence.canary_total}")
    if evidence.out_of_process:
        parts.append(f"out of process {evidence.out_of_process} of {evidence.canary_total}")
    if evidence.sandbox:
        parts.append(describe_sandbox(evidence))
    return ", ".join([*parts, *map(clean_for_display, evidence.warnings)])


def named(server: Server, run: Run, text: str) -> str:
    """The text, with lines of a notebook's module named as rows of its cells."""
    notebook = server.documents.notebook(run.root / run.target.path, run.root)
    return text if notebook is None else notebook_named(notebook, text)


def _landed(server: Server, run: Run, outcome: Outcome, landing: Landing) -> None:
    lines = ", ".join(f"{path}:{line}" for path, line in landing.places)
    merged = " together with what you typed" if landing.merged else ""
    evidence = f"by {run.target.selector}: {counts(outcome.evidence)}".rstrip(": ")
    label = {Verified.VERIFIED: "verified", Verified.PARTIALLY: "partially verified"}.get(
        outcome.verified, "not verified"
    )
    text = (
        f"{lines} fixed{merged}, {label} {evidence}" if outcome.solved else f"{lines}: best attempt put in, not solved"
    )
    text = named(server, run, text)
    line_locations = [server.documents.location(run.root / path, line_range(line)) for path, line in landing.places]
    elsewhere = next((each for each in line_locations if each.uri != run.uri), None)
    if elsewhere and server.abilities.show_document and server.abilities.questions:

        async def offer() -> None:
            if await client_requests.ask(server, text, ("Open",)):
                await client_requests.show(server, elsewhere.uri, elsewhere.range.start.line + 1)

        server.runs.spawn(offer())
    else:
        client_requests.tell(server, text)


def _kind(outcome: Outcome) -> lsp.MessageType:
    good = outcome.solved or outcome.reason is StopReason.ALREADY_GREEN
    return lsp.MessageType.Info if good else lsp.MessageType.Warning
