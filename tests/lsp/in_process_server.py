"""A server without a process around it: its answers as an editor with some capabilities gets them, and runs in any state."""

import json
from pathlib import Path

from lsprotocol import types as lsp
from lsprotocol.converters import get_converter

from editor_runs import a_run, set_state
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec, Target, TargetKind
from greenloop.core.records.verdict import Status, Verdict
from greenloop.lsp.connection.client import read_capabilities
from greenloop.lsp.server import create_server
from greenloop.lsp.state.run import Phase
from greenloop_sandbox import CaseResult, Failure

CONVERTER = get_converter()
PROFILES = sorted(path.stem for path in (Path(__file__).parent / "capabilities").glob("*.json"))


def captured(profile):
    path = Path(__file__).parent / "capabilities" / f"{profile}.json"
    return json.loads(path.read_text(encoding="utf-8"))["capabilities"]


class InProcessServer:
    """A server whose folder holds `files`, all of them open."""

    def __init__(self, root, files, capabilities, monkeypatch, **settings):
        self.root, self.files = root, files
        self.server = server = create_server()
        monkeypatch.setattr(server.parts.prewarmer, "prewarm", lambda _root: None)
        server.parts.client.capabilities = read_capabilities(CONVERTER.structure(capabilities, lsp.ClientCapabilities))
        server.parts.settings.from_client.pushed = settings
        server.parts.documents.begin(root.as_uri(), [], None)
        for name, text in files.items():
            (root / name).write_text(text)
            item = lsp.TextDocumentItem(uri=self.uri(name), language_id="python", version=0, text=text)
            server.parts.documents.put_text_document(item)

    def uri(self, name):
        return (self.root / name).as_uri()

    def ask(self, method, params):
        return self.server.protocol.fm.features[method](params)

    def actions(self, name, row, only=None, trigger=None, diagnostics=()):
        here = lsp.Position(line=row, character=0)
        context = lsp.CodeActionContext(diagnostics=list(diagnostics), only=only, trigger_kind=trigger)
        document = lsp.TextDocumentIdentifier(uri=self.uri(name))
        return self.ask(
            "textDocument/codeAction",
            lsp.CodeActionParams(text_document=document, range=lsp.Range(start=here, end=here), context=context),
        )

    def lenses(self, name):
        """Each row's titles and commands."""
        params = lsp.CodeLensParams(text_document=lsp.TextDocumentIdentifier(uri=self.uri(name)))
        found = {}
        for lens in self.ask("textDocument/codeLens", params):
            row = found.setdefault(lens["range"]["start"]["line"], {})
            row[lens["command"]["title"]] = (lens["command"]["command"], *lens["command"]["arguments"])
        return found

    def hover(self, name, row):
        params = lsp.HoverParams(
            text_document=lsp.TextDocumentIdentifier(uri=self.uri(name)), position=lsp.Position(line=row, character=4)
        )
        found = self.ask("textDocument/hover", params)
        return found and found.contents.value

    def run(self, test="test_m.py::test_double", region="double", *, number=1, path="m.py", **state):
        """A run of a test that reaches one function, refining unless `state` says otherwise."""
        file, *names = test.split("::")
        target = Target(
            kind=TargetKind.TEST, path=file, qualname=".".join(names), selector=test, start=1, end=2, name_line=1
        )
        run = a_run(self.root, target, uri=self.uri(file), phase=Phase.REFINING)
        problem = Problem(
            root=self.root,
            spec=Spec(cases=(Case(id=test, path=file, line=1),), selectors=(test,)),
            regions=(Region(path=path, qualname=region, start=1, end=2),),
            originals={},
            files={},
        )
        run.progress.attempts = [tried(number, test) for number in range(number + 1)]
        run.progress.started = Started(
            problem=problem, baseline=run.attempts[0], model="m", preset="plain", sandbox="bubblewrap", attempts=5
        )
        set_state(run, **state)
        self.server.parts.runs._runs.append(run)
        return run


def tried(number, test, observed=11):
    failure = Failure(type="AssertionError", message=f"assert {observed} == 10", text="")
    case = CaseResult(id=test, outcome="failed", failure=failure)
    verdict = Verdict(status=Status.FAILED, cases=(case,))
    return Attempt(number=number, parent=0 if number else None, verdict=verdict, error_class="AssertionError")


def outcome(*, solved=True, changes=True, verified=Verified.VERIFIED):
    return Outcome(
        solved=solved,
        verified=verified if solved else Verified.UNVERIFIED,
        reason=StopReason.SOLVED if solved else StopReason.ATTEMPTS,
        message="",
        attempts=(),
        before={"m.py": "def double(x):\n    return x + 1\n"},
        after={"m.py": "def double(x):\n    return x * 2\n"} if changes else {},
        evidence=Evidence(sandbox="bubblewrap"),
    )
