"""Messages about a run: its end, a refusal, and its start where the editor shows no progress."""

from __future__ import annotations

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.summary import describe_evidence, describe_sandbox
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.connection.messages import REVIEW
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.attempt_line import line_of
from greenloop.lsp.state.run import ApplyResult, Run
from greenloop.lsp.tasks import Tasks
from greenloop.notebook.cell_labels import label_text

# Ends that say nothing about the attempts: the user must fix something before a run makes sense.
OUTSIDE = (StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED)


class RunNotifications:
    """Tells the user how a run goes, with messages and log lines."""

    def __init__(self, client: Client, documents: Documents, tasks: Tasks) -> None:
        self._client, self._documents, self._tasks = client, documents, tasks

    def begin(self, run: Run) -> None:
        if not self._client.capabilities.progress:
            self._client.show_message(
                f"Refining {run.name} until its tests pass; diagnostics and hover show how it goes."
            )

    def wait(self, run: Run) -> None:
        self._client.show_message(f"{run.name} is refined as soon as its turn comes; {run.runs_ahead} before it.")

    def log_attempt(self, run: Run) -> None:
        self._client.log(line_of(run.attempts[-1]))

    def refuse(self, run: Run, error: GreenloopError) -> None:
        run.result.refusal, run.result.refusal_code = clean_for_display(error.advice), error.kind
        self._client.report_refusal(
            clean_for_display(str(error)),
            reason=error.kind,
            remedy=clean_for_display(error.remedy),
            uri=run.uri,
            target=run.target.selector,
        )

    def fail(self, run: Run) -> None:
        result = run.result
        result.refusal = (
            f"Refining {run.name} failed unexpectedly; the server's log (greenloop.showLog) has the details."
        )
        result.refusal_code = "failed"
        self._client.report_refusal(result.refusal, reason=result.refusal_code, uri=run.uri, target=run.target.selector)

    def request_review(self, run: Run) -> None:
        """Tells a client that declared `review` that a result is ready; a command then applies or discards it."""
        assert run.outcome is not None
        fields = {"uri": run.uri, "target": run.target.selector}
        self._client.notify(REVIEW, {**fields, "attempt": run.outcome.best or 0})

    def end(self, run: Run, outcome: Outcome, apply_result: ApplyResult | None) -> None:
        """Reports the result, its evidence, and where it was applied or how to apply it."""
        if apply_result is not None and apply_result.applied:
            self._show_applied(run, outcome, apply_result)
            return
        text = name_cells(self._documents, run, end_message(run, outcome, apply_result))
        is_good = outcome.solved or outcome.reason is StopReason.ALREADY_GREEN
        kind = lsp.MessageType.Info if is_good else lsp.MessageType.Warning
        if outcome.reason in OUTSIDE:
            self._client.report_refusal(
                text, reason=outcome.reason.value, uri=run.uri, target=run.target.selector, kind=kind
            )
        else:
            self._client.show_message(text, kind)

    def _show_applied(self, run: Run, outcome: Outcome, apply_result: ApplyResult) -> None:
        text = name_cells(self._documents, run, applied_message(run, outcome, apply_result))
        client = self._client
        applied = [self._documents.location(run.root / path, line_range(line)) for path, line in apply_result.lines]
        elsewhere = next((each for each in applied if each.uri != run.uri), None)
        if elsewhere and client.capabilities.show_document and client.capabilities.questions:

            async def offer_to_open() -> None:
                if await client.ask(text, ("Open",)):
                    await client.show_document(elsewhere.uri, elsewhere.range.start.line + 1)

            self._tasks.spawn(offer_to_open())
        else:
            client.show_message(text)


def name_cells(documents: Documents, run: Run, text: str) -> str:
    """The text, with lines of a notebook's module named as rows of its cells."""
    notebook = documents.notebook(run.root / run.target.path, run.root)
    return text if notebook is None else label_text(notebook, text)


def end_message(run: Run, outcome: Outcome, apply_result: ApplyResult | None) -> str:
    """The end of a run that changed no text, in one or two sentences."""
    reason = apply_result.reason if apply_result else ""
    condition = " once that is settled" if apply_result and reason and not apply_result.by_action else ""
    subject = "it" if outcome.solved else "the best attempt"
    apply = f" 'Apply refined {run.changed_name}' puts {subject} in{condition}." if run.changes and run.improved else ""
    message = clean_for_display(outcome.message).strip()
    if outcome.reason is StopReason.ALREADY_GREEN:
        return message or f"{run.name} is already green."
    if outcome.solved:
        not_applied = f"; not applied: {reason}" if reason else "; not applied by itself"
        merge_note = ", also together with what you typed" if apply_result and apply_result.merged else ""
        return f"{run.name}: {standing(outcome)}{merge_note}{not_applied}.{apply}"
    return f"{not_solved(run.name, message or outcome.reason.value).rstrip('.')}.{apply}"


def applied_message(run: Run, outcome: Outcome, apply_result: ApplyResult) -> str:
    """The end of a run whose result is in the text now."""
    lines = ", ".join(f"{path}:{line}" for path, line in apply_result.lines)
    merged = " together with what you typed" if apply_result.merged else ""
    evidence = f"by {run.target.selector}: {counts(outcome.evidence)}".rstrip(": ")
    label = {Verified.VERIFIED: "verified", Verified.PARTIALLY: "partially verified"}.get(
        outcome.verified, "not verified"
    )
    return (
        f"{lines} fixed{merged}, {label} {evidence}" if outcome.solved else f"{lines}: best attempt put in, not solved"
    )


def not_solved(name: str, reason: str) -> str:
    """`double is not solved: …`, or `double is not solved after 2 attempts: …`."""
    if reason.startswith("Not solved "):
        return f"{name} is not{reason.removeprefix('Not')}"
    return f"{name} is not solved: {reason}" if reason else f"{name} is not solved"


def standing(outcome: Outcome) -> str:
    """The verdict with its evidence in brackets; for an unsolved run, how many tests its best attempt passes."""
    labels = {Verified.PARTIALLY: "partially verified"}
    evidence = counts(outcome.evidence)
    best = next((each.verdict for each in outcome.attempts if each.number == outcome.best and each.verdict.total), None)
    if best is not None and not outcome.solved:
        evidence = f"{best.passed} of {best.total} passed" + (f", {evidence}" if evidence else "")
    label = labels.get(outcome.verified, outcome.verified.value) if outcome.solved else "not verified"
    if outcome.evidence.sandbox == "none":
        label += ": no sandbox"
    return f"{label} ({evidence})" if evidence else label


def counts(evidence: Evidence) -> str:
    parts = describe_evidence(evidence) if evidence.cases else []
    if evidence.sandbox:
        parts.append(describe_sandbox(evidence))
    return ", ".join([*parts, *map(clean_for_display, evidence.warnings)])
