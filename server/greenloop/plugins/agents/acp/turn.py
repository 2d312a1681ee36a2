"""One prompt from its text to the end of its turn: targets, runs, attempts as updates, results as edits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import acp
from acp.interfaces import Client
from acp.schema import ClientCapabilities, StopReason, ToolCallLocation, ToolKind

from greenloop.api import targets, testing
from greenloop.api.session import RefineRequest, RefineSession
from greenloop.api.settings import Settings
from greenloop.core.aims import find_aim
from greenloop.core.errors import GreenloopError
from greenloop.core.events import Event, Looked, Started, Tested
from greenloop.core.records import outcome as records
from greenloop.core.records.attempt import Look
from greenloop.core.records.spec import Region
from greenloop.core.text.redact import clean_for_display
from greenloop.plugins.agents.acp.apply import offer
from greenloop.plugins.agents.acp.client_files import ClientFiles
from greenloop.plugins.agents.acp.client_user import AcpUser
from greenloop.plugins.agents.acp.prompt import ASK, Wish, read_prompt
from greenloop.plugins.agents.acp.updates import PERSON, Updates
from greenloop.plugins.agents.service import Service
from greenloop.wording.attempt import attempt_label, first_rows, result_and_error
from greenloop.wording.model import describe_asking
from greenloop.wording.notes import note_lines
from greenloop.wording.outcome import outcome_sentence

LOOK_ROWS = 40  # of a result that are shown
LOOK_KINDS: dict[str, ToolKind] = {
    "read": "read",
    "search": "search",
    "references": "search",
    "run": "execute",
    "evaluate": "execute",
}
STOPS: dict[records.StopReason, StopReason] = {
    records.StopReason.CANCELLED: "cancelled",
    records.StopReason.ATTEMPTS: "max_turn_requests",
    records.StopReason.TOKENS: "max_tokens",
}


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A turn of a session. `root` is the folder of the session; `patience`: seconds for an answer."""

    service: Service
    root: Path
    session_id: str
    client: Client
    capabilities: ClientCapabilities | None
    patience: float = PERSON

    async def run(self, blocks: Sequence[object]) -> StopReason:
        """Does what the prompt asks; a fault that the user can correct is one sentence with its remedy."""
        async with Updates(self.client, self.session_id, self.patience) as updates:
            wish = read_prompt(blocks)
            if wish is None:
                updates.say(ASK)
                return "end_turn"
            files = ClientFiles(self.client, self.capabilities, self.session_id, self.root)
            try:
                settings = self.service.load_settings(self.root, {})
                if wish.targets:
                    return await self._fix_all(wish.targets, wish, files, updates, settings)
                failing = await self._list_failing(updates, settings)
                return await self._fix_all(failing, wish, files, updates, settings)
            except GreenloopError as error:
                updates.say(error.advice)
                return "end_turn"

    async def _list_failing(self, updates: Updates, settings: Settings) -> list[str]:
        call = updates.start("Run the tests", kind="execute", status="in_progress")
        try:
            failing = await testing.list_failing_tests(
                self.root, self.root, settings=settings, report_status=lambda text: updates.change(call, text)
            )
        except BaseException:
            updates.change(call, status="failed")
            raise
        found = f"{len(failing)} failing" if failing else "All tests pass; there is nothing to fix."
        updates.change(call, "\n".join([found, *failing]), status="completed")
        updates.say(f"{found}\n" if not failing else "")
        return failing

    async def _fix_all(
        self, wanted: Sequence[str], wish: Wish, files: ClientFiles, updates: Updates, settings: Settings
    ) -> StopReason:
        stop: StopReason = "end_turn"
        for number, target in enumerate(wanted):
            if len(wanted) > 1:
                updates.put(_plan(wanted, number))
            try:
                stop = await self._fix(target, wish, files, updates, settings)
            except GreenloopError as error:
                if len(wanted) == 1:
                    raise
                # One test that cannot be fixed must not stop the others.
                updates.say(f"{target}: {error.advice}\n")
            if stop == "cancelled":
                return stop
        if len(wanted) > 1:
            updates.put(_plan(wanted, len(wanted)))
        return stop if len(wanted) == 1 else "end_turn"

    async def _fix(
        self, target: str, wish: Wish, files: ClientFiles, updates: Updates, settings: Settings
    ) -> StopReason:
        call = updates.start(f"Refine {target}", kind="execute", status="in_progress")
        status = ""

        def report(text: str) -> None:
            nonlocal status
            if text != status:
                status = text
                updates.change(call, text)

        def show(event: Event) -> None:
            match event:
                case Started():
                    regions = (*event.problem.regions, *event.problem.suspects)
                    at_fault = ", ".join(region.label for region in regions) or "what the test reads"
                    report(f"{describe_asking(event.model, event.kind)}; at fault may be: {at_fault}")
                    updates.change(call, locations=[self._location(region) for region in regions])
                case Looked():
                    self._show_look(event.look, updates)
                case Tested():
                    updates.say(f"- attempt {attempt_label(event.attempt)}: {result_and_error(event.attempt)}\n")

        try:
            request = RefineRequest(
                root=self.root,
                target=target,
                buffers=await files.unsaved(self._file_of(target)),
                comment=wish.comment,
                aim=find_aim(wish.goal),
            )
            session = RefineSession(
                request,
                settings=settings,
                user=AcpUser(self.client, self.capabilities, self.session_id, self.patience),
                pool=self.service.pool,
                report_status=report,
                on_event=show,
            )
            outcome = await session.run()
        except BaseException:
            updates.change(call, status="failed")
            raise
        sentence = outcome_sentence(outcome)
        updates.change(call, sentence, status="completed" if outcome.solved else "failed")
        updates.say("\n".join(["", sentence, *(f"- {line}" for line in note_lines(outcome)), ""]))
        if session.problem is not None and outcome.solved and outcome.after:
            await offer(session, outcome, files, updates)
        return STOPS.get(outcome.reason, "end_turn")

    def _show_look(self, look: Look, updates: Updates) -> None:
        """Shows a look of the model as a call of a tool, with what it read, searched or ran."""
        path = _path_of(look)
        inside = targets.relative_path(path, str(self.root)) if path else ""
        text = clean_for_display(first_rows(look.result, LOOK_ROWS))
        updates.start(
            look.summary,
            kind=LOOK_KINDS.get(look.call.name, "other"),
            status="completed",
            content=[acp.tool_content(acp.text_block(text))],
            locations=[ToolCallLocation(path=str(self.root / inside))] if inside else [],
        )

    def _file_of(self, target: str) -> list[str]:
        """The file of a target, relative to the folder; none if it lies elsewhere."""
        path = targets.relative_path(targets.split_target(target).path, str(self.root))
        return [path] if path else []

    def _location(self, region: Region) -> ToolCallLocation:
        return ToolCallLocation(path=str(self.root / region.path), line=max(region.start, 1))


def _path_of(look: Look) -> str:
    """The file that a look asks for; empty where it asks for none."""
    try:
        arguments = json.loads(look.call.arguments)
    except ValueError:
        return ""
    path = arguments.get("path") if isinstance(arguments, dict) else ""
    return path if isinstance(path, str) else ""


def _plan(wanted: Sequence[str], done: int) -> object:
    """The targets as a plan, of which this many are done and the next is in progress."""
    return acp.update_plan(
        acp.plan_entry(
            clean_for_display(target),
            status="completed" if number < done else "in_progress" if number == done else "pending",
        )
        for number, target in enumerate(wanted)
    )
