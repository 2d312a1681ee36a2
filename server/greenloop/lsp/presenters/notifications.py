"""Messages about a run: its end, a refusal, and its start where the editor shows no progress."""

from __future__ import annotations

from dataclasses import replace

from lsprotocol import types as lsp

from greenloop.api.presets import IMPROVE
from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.spec import TargetKind
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.connection.messages import REVIEW
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.editor import Editor
from greenloop.lsp.state.run import ApplyResult, Run
from greenloop.wording.attempt import attempt_line
from greenloop.wording.notes import describe_also_fixed, describe_still_red, describe_weakness
from greenloop.wording.outcome import (
    count_cases,
    describe_improvement,
    describe_related,
    describe_sandbox,
    describe_unasked,
    isolation_caveat,
    summarize_solved,
)

# Ends that say nothing about the attempts: the user must fix something before a run makes sense.
OUTSIDE = (StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED)
# After an end at once, because the tests pass already.
IMPROVABLE = "To make it faster, smaller or simpler, choose 'Improve while tests pass'."


class RunNotifications:
    """Tells the user how a run goes, with messages and log lines."""

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents, self._tasks = editor.client, editor.documents, editor.tasks

    def begin(self, run: Run) -> None:
        if not self._client.capabilities.progress:
            until = "while" if run.request.aim else "until"
            self._client.show_message(
                f"{activity(run)} {until} its tests pass. Diagnostics and hover show the progress."
            )

    def wait(self, run: Run) -> None:
        ahead = "1 refinement is" if run.runs_ahead == 1 else f"{run.runs_ahead} refinements are"
        self._client.show_message(f"{run.name} is queued; {ahead} ahead of it.")

    def log_attempt(self, run: Run) -> None:
        self._client.log(attempt_line(run.attempts[-1]))

    def refuse(self, run: Run, error: GreenloopError) -> None:
        run.result.refusal, run.result.refusal_code = clean_for_display(error.advice), error.kind
        self._client.report_error(error, uri=run.uri, target=run.target.selector)

    def fail(self, run: Run) -> None:
        result = run.result
        result.refusal = f"{activity(run)} failed unexpectedly. See the server's log (greenloop.showLog)."
        result.refusal_code = "failed"
        self._client.report_refusal(result.refusal, reason=result.refusal_code, uri=run.uri, target=run.target.selector)

    def offer(self, run: Run) -> None:
        """Says that a result can be applied while related tests go on."""
        self._client.show_message(f"{run.name}: {run.progress.status}. It can be applied now.")

    def take_back(self, run: Run) -> None:
        """Says that a related test fails with a result that is in the text already."""
        self._client.show_warning(f"{run.name}: {run.attempts[-1].verdict.reason} Undo takes the result out again.")

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
        text = name_places(self._documents, run, end_message(run, outcome, apply_result))
        is_good = outcome.solved or outcome.reason is StopReason.ALREADY_GREEN
        kind = lsp.MessageType.Info if is_good else lsp.MessageType.Warning
        if outcome.reason in OUTSIDE:
            self._client.report_refusal(
                text, reason=outcome.reason.value, uri=run.uri, target=run.target.selector, kind=kind
            )
        else:
            self._client.show_message(text, kind)

    def _show_applied(self, run: Run, outcome: Outcome, apply_result: ApplyResult) -> None:
        text, client = applied_message(run, outcome, apply_result), self._client
        elsewhere = applied_elsewhere(self._documents, run, run.uri)
        if elsewhere is None or not client.capabilities.show_document:
            client.show_message(name_places(self._documents, run, text))
        elif not client.capabilities.questions:
            text = f"{text} To see it, choose '{open_title(run)}'."
            client.show_message(name_places(self._documents, run, text))
        else:
            self._tasks.spawn(self._offer_to_open(name_places(self._documents, run, text), elsewhere))

    async def _offer_to_open(self, text: str, location: lsp.Location) -> None:
        if await self._client.ask(text, ("Open",)):
            await self._client.show_document(location.uri, location.range.start.line + 1)


def applied_elsewhere(documents: Documents, run: Run, uri: str) -> lsp.Location | None:
    """The first line of an applied result that is not in this document."""
    if not run.result.applied:
        return None
    changed = (documents.location(run.root / path, line_range(line)) for path, line in run.result.lines)
    return next((location for location in changed if location.uri != uri), None)


def open_title(run: Run) -> str:
    """The title of the action that opens what an applied result changed."""
    return f"Open the changed {run.changed_name}"


def activity(run: Run) -> str:
    """`Refining test_double`, or `Improving double (faster)`."""
    aim = run.request.aim
    return f"Improving {run.name} ({aim.words})" if aim is not None else f"Refining {run.name}"


def name_places(documents: Documents, run: Run, text: str) -> str:
    """The text with places that the user knows, also in a composite file."""
    composite = documents.composite(run.root / run.target.path, run.root)
    return text if composite is None else composite.label(text)


def end_message(run: Run, outcome: Outcome, apply_result: ApplyResult | None) -> str:
    """The end of a run that changed no text."""
    reason = apply_result.reason if apply_result else ""
    if outcome.reason is StopReason.ALREADY_GREEN:
        message = clean_for_display(outcome.message).strip() or f"{run.name} already passes; nothing was changed."
        is_function = run.target.kind is TargetKind.FUNCTION and run.prepared is None
        return f"{message} {IMPROVABLE}" if is_function and run.request.aim is None else message
    if outcome.solved:
        label = f"{'Improvement' if is_improvement(run) else 'Fix'} found{_partial(outcome)}"
        merged = ", also together with your edits" if apply_result and apply_result.merged else ""
        not_applied = f"Not applied: {reason}." if reason else "Not applied automatically."
        # Warnings are why a verified result is not applied automatically.
        passes = f"{_passes(run, outcome)}{_others(outcome)}{merged}"
        text = " ".join([f"{label}: {passes}.", *_caveats(outcome), not_applied])
    else:
        message = clean_for_display(outcome.message).strip() or outcome.reason.value
        text = f"{not_solved_text(run.name, message, wanted=wanted_end(run)).rstrip('.')}."
    if not run.changes or not run.improved:
        return text
    condition = " once that is resolved" if reason and apply_result and not apply_result.by_action else ""
    subject = "it" if outcome.solved else "the best attempt"
    return f"{text} Choose 'Apply refined {run.changed_name}' to apply {subject}{condition}."


def applied_message(run: Run, outcome: Outcome, apply_result: ApplyResult) -> str:
    """The end of a run whose result is in the text now: what happened, related tests, changed lines.

    Hovers and pages have the evidence.
    """
    lines = ", ".join(f"{path}:{line}" for path, line in run.result.lines)
    if not outcome.solved:
        return f"Best attempt applied; {run.name} is not solved. Changed {lines}."
    label = f"{'Improved' if is_improvement(run) else 'Fixed'}{_partial(outcome)}"
    merged = " together with your edits" if apply_result.merged else ""
    sentences = [f"{label}: {_passes(run, outcome)}{_others(outcome)}{merged}.", f"Changed {lines}."]
    unnamed = replace(outcome.evidence, neighbours_unchanged=0) if is_improvement(run) else outcome.evidence
    if parts := describe_related(unnamed):
        sentences.insert(1, f"{', '.join(parts)}.")
    return " ".join(filter(None, [*sentences, describe_unasked(outcome), *_caveats(outcome)]))


def _partial(outcome: Outcome) -> str:
    return ", not fully verified" if outcome.verified is not Verified.VERIFIED else ""


def _caveats(outcome: Outcome) -> list[str]:
    """Lists caveats before the user takes a solved run's change: network, tests still red or weak, risky calls."""
    network = [isolation_caveat(outcome.evidence)] if outcome.evidence.network else []
    still_red = [clean_for_display(describe_still_red(outcome.evidence))] if outcome.evidence.still_red else []
    weakness = describe_weakness(outcome.evidence.data)
    weak = [f"{weakness.capitalize()}."] if weakness else []
    return [*network, *still_red, *weak, *warning_sentences(outcome)]


def warning_sentences(outcome: Outcome) -> list[str]:
    """Returns why a verified result still needs a look, such as `It newly imports os in m.py.`"""
    return [clean_for_display(warning) for warning in outcome.evidence.warnings]


def _passes(run: Run, outcome: Outcome) -> str:
    """`test_one passes`; where it is not fully verified, with the reason."""
    # In a composite file `name_places` labels the selector.
    name = run.target.selector if run.prepared is not None else run.name
    if is_improvement(run):
        return ", ".join(filter(None, [name, describe_improvement(outcome.evidence)]))
    if outcome.verified is Verified.VERIFIED:
        return f"{name} passes"
    reasons = [describe_sandbox(outcome.evidence)] if outcome.evidence.sandbox == "none" else []
    return f"{name} passes ({', '.join([*reasons, *count_cases(outcome.evidence)])})"


def _others(outcome: Outcome) -> str:
    """`, also fixes test_a`: other tests that are green now."""
    also_fixed = describe_also_fixed(outcome.evidence)
    return f", {also_fixed}" if also_fixed else ""


def not_solved_text(name: str, reason: str, *, wanted: str = "solved") -> str:
    """`double is not solved: …`, or `double is not solved after 2 attempts: …`."""
    text = f"{name} is not {wanted}"
    if reason.startswith("Not solved "):
        return f"{text} {reason.removeprefix('Not solved ')}"
    return f"{text}: {reason}" if reason else text


def wanted_end(run: Run) -> str:
    """Returns the word for a run that reaches its end: `solved`, or `improved`."""
    return "improved" if is_improvement(run) else "solved"


def is_improvement(run: Run) -> bool:
    """True if the code passed before; by the preset, where that turned out later, or the run is an earlier server's."""
    is_preset = run.started is not None and run.started.preset.startswith(IMPROVE)
    return run.request.aim is not None or is_preset


def evidence_text(outcome: Outcome) -> str:
    """The evidence for a solved run, as on the command line."""
    return clean_for_display(summarize_solved(outcome.evidence, outcome.verified))
