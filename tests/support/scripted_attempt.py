"""An attempt as engines without a model play it: every event in its order, then the attempt itself."""

from greenloop.core.events import Checked, Planned, Proposed, Tested, Token
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role, Usage
from greenloop.core.records.verdict import Status

ERRORS = {Status.PASSED: "", Status.TAMPERED: "Tampered"}


def emit_attempt(problem, emit, number, body, verdict, model, notes=()):
    """The first region becomes `body`, and the tests say `verdict` of it."""
    draft = Draft(parent=number - 1, move=Move.DRAFT, role=Role.DRAFTER)
    answer = f"```python\n{body}```"
    usage = Usage(prompt_tokens=300, completion_tokens=20, model_seconds=1.0, test_seconds=0.1)
    emit(Planned(attempt=number, draft=draft, model=model, prompt_tokens=300))
    emit(Token(attempt=number, text="x", count=1))
    emit(Proposed(attempt=number, answer=answer, usage=usage))
    emit(Checked(attempt=number, error_class="", message=""))
    done = Attempt(
        number=number,
        parent=number - 1,
        draft=draft,
        model=model,
        answer=answer,
        candidate=Candidate(texts={problem.regions[0]: body}),
        verdict=verdict,
        error_class=ERRORS.get(verdict.status, "AssertionError"),
        usage=usage,
        notes=notes,
    )
    emit(Tested(attempt=done))
    return done
