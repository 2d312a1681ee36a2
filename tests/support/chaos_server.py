"""The real server for the random editor, which tells what it holds inside.

`python chaos_server.py SEED`; with `--real` the real engine works.
"""

import gc
import logging
import os
import sys
from pathlib import Path

from chaos_engine import Dice
from chaos_real import Real
from chaos_texts import digest
from greenloop.lsp.server import create_server, serve
from greenloop.lsp.state.run import Run


def _stale(owner, runs):
    """Why nothing should be shown of an owner any more; empty where something should."""
    if not isinstance(owner, Run):
        return ""
    if owner not in runs:
        return "the run is forgotten"
    solved = not owner.running and owner.outcome is not None and owner.outcome.solved
    return (
        "the run is solved, and its result in the text"
        if solved and owner.view.chosen_attempt is None and owner.result.applied
        else ""
    )


def state(server):
    """Everything inside that an editor must agree with, and the sizes of all that could grow."""
    runs = list(server.parts.runs)
    board = []
    for path, file in server.parts.store._files.items():
        text, is_open = server.parts.documents.text(path), server.parts.documents.document_at(path) is not None
        for owner, items in file.by_owner.items():
            stale = _stale(owner, runs) or ("the text moved on" if is_open and text != file.text else "")
            for item in items:
                row = {"uri": server.parts.documents.uri_of(path), "message": item.message}
                board.append({**row, "there": text is not None, "stale": stale})
    gc.collect()
    return {
        "documents": {d.uri: [d.version, digest(d.source)] for d in server.parts.documents.text_documents.values()},
        "runs": [[run.target.selector, run.phase.value, run.offered] for run in runs],
        "board": board,
        "sizes": {
            "requests": len(server.protocol._request_futures),
            "result types": len(server.protocol._result_types),
            "progress tokens": len(server.work_done_progress.tokens),
            "tasks": len(server.parts.tasks),
            "progress lines": len(server.parts.driver.progress_lines),
            "waiting": len(server.parts.documents._waiting),
        },
        "kept": {
            "runs": len(runs),
            "warned": len(server.parts.settings.warnings_shown),
            "results": len(server.parts.results._results),
        },
        "memory": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
    }


def main():
    seed = sys.argv[1]
    server = create_server(engine=Real(seed) if "--real" in sys.argv else Dice(seed))

    @server.feature("test/state")
    def told(_params):
        return state(server)

    @server.feature("test/text")
    def text(params):
        return server.parts.documents.get_text_document(params.uri).source

    logging.captureWarnings(True)
    return serve(server)


if __name__ == "__main__":
    sys.exit(main())
