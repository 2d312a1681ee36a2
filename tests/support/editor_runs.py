"""Runs of the language server in any state, without a server that drives them."""

from greenloop.lsp.state.run import Run, RunRequest
from greenloop.project.settings import Settings


def a_run(root, target, *, uri="", began_at=0.0, **state):
    """A queued run, or with `state`: fields of the run and of its parts."""
    run = Run(RunRequest(root=root, target=target, uri=uri, settings=Settings(), began_at=began_at))
    set_state(run, **state)
    return run


def record(run, event):
    """Gives a run the next event, as a session does."""
    run.progress.record(event)
    run.follow(event)


def set_state(run, **state):
    for name, value in state.items():
        parts = (run.progress, run.view, run.result, run)
        setattr(next(part for part in parts if name in part.__dataclass_fields__), name, value)
