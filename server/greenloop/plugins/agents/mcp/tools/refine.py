"""`refine`: changes code until its tests pass, and returns the verified change as a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from greenloop.api.events_json import event_object
from greenloop.api.session import RefineRequest, RefineSession
from greenloop.core.aims import find_aim
from greenloop.core.errors import WorkspaceError
from greenloop.core.events import Event, Looked, Planned, Started, Tested
from greenloop.core.records.outcome import Outcome
from greenloop.core.summary import count_candidates
from greenloop.core.text.diff import diff_files
from greenloop.plugins.agents.mcp.answers import Refined, RefinedReply, first_of, reply, tried
from greenloop.plugins.agents.mcp.arguments import Root, Seconds, Text
from greenloop.plugins.agents.mcp.client_model import CLIENT, ClientModel
from greenloop.plugins.agents.mcp.client_user import McpUser
from greenloop.plugins.agents.mcp.context import ServiceContext, report_progress, service_of, tell_errors
from greenloop.wording.model import describe_asking, describe_model
from greenloop.wording.notes import list_notes


@tell_errors
async def refine(
    context: ServiceContext,
    target: Annotated[
        Text, Field(description="A failing test (node id), or a function to write from its docstring (file.py::name).")
    ],
    comment: Annotated[str, Field(description="What the change should do, for the model.")] = "",
    goal: Annotated[
        Literal["time", "memory", "limits", "comment"] | None,
        Field(description="For code that passes its tests: what it is to become."),
    ] = None,
    model: Annotated[
        Text, Field(description="local, ollama/NAME, ...; `client` asks yours by sampling. By default the setting's.")
    ] = "",
    preset: Annotated[Text, Field(description="The preset of prompt, feedback and search.")] = "",
    attempts: Annotated[int, Field(description="The most attempts; 0 is the preset's.", ge=0)] = 0,
    seconds: Seconds = 0.0,
    tokens: Annotated[int, Field(description="Token limit; 0 is the setting's.", ge=0)] = 0,
    apply: Annotated[bool, Field(description="Write a verified result into the files.")] = False,
    root: Root = "",
) -> RefinedReply:
    """Change code until its tests pass, and return the verified change as a diff.

    Candidates run in a sandbox; what fakes a pass is refused. Nothing is written unless `apply` is true, and then only
    a fully verified result without warnings.
    """
    service = service_of(context)
    folder = service.find_folder(root)
    chosen = "" if model == CLIENT else service.check_model(model, folder)
    wanted = {"model": chosen, "preset": preset, "attempts": attempts, "seconds": seconds, "tokens": tokens}
    settings = service.load_settings(folder, wanted)
    asked: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []

    def show(event: Event) -> None:
        match event:
            case Started():
                asked.update(model=describe_model(event.model), kind=event.kind and event.kind.value)
                suspects = len(event.problem.regions) + len(event.problem.suspects)
                report(f"{describe_asking(event.model, event.kind)}; {suspects} functions may be at fault")
            case Planned():
                report(f"attempt {event.attempt}: {event.draft.move.value}")
            case Looked():
                report(f"attempt {event.attempt}: {session.state.status}")
            case Tested():
                rows.append(event_object(event) or {})
                report(f"attempt {event.attempt.number}: {event.attempt.verdict.status.value}")

    async with report_progress(context) as report:
        session = RefineSession(
            RefineRequest(root=folder, target=target, comment=comment, aim=find_aim(goal)),
            settings=settings,
            user=McpUser(context),
            model=ClientModel(context, settings) if model == CLIENT else None,
            pool=service.pool,
            report_status=report,
            on_event=show,
        )
        outcome = await session.run()
        is_applied, refusal = False, {}
        if apply and session.may_write():
            try:
                await session.apply()
                is_applied = True
            except WorkspaceError as error:
                refusal = {"message": str(error), "remedy": error.remedy}
    return reply(_answer(outcome, rows, applied=is_applied, **refusal, **asked))


def _answer(outcome: Outcome, rows: Sequence[Mapping[str, Any]], **more: Any) -> Refined:
    """The answer for a run; `more` are fields that the outcome does not have."""
    evidence = outcome.evidence
    lists, left_out = first_of(
        {
            "also_turned_green": evidence.also_fixed,
            "still_red": evidence.still_red,
            "tried": [tried(row) for row in reversed(rows)],
        }
    )
    lists["tried"] = lists["tried"][::-1]
    return Refined(
        **{
            "solved": outcome.solved,
            "verified": outcome.verified.value,
            "reason": outcome.reason.value,
            "message": outcome.message,
            "diff": diff_files(outcome.before, outcome.after),
            "run": outcome.run,
            "attempts": count_candidates(outcome),
            "notes": list(list_notes(outcome)),
            "related_tests_unchanged": evidence.neighbours_unchanged,
            "proven_apart": len(evidence.proofs),
            "ran_in_one_process": len(evidence.together),
            "tokens": outcome.usage.tokens,
            "cost": outcome.usage.cost,
            "left_out": left_out,
            **lists,
            **more,
        }
    )
