"""Notebooks in editors: cells that are documents of their own, and JupyterLab's virtual documents; real engine and wall."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .conftest import EVERYTHING, Editor, served, without

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

WAIT = 60
BROKEN = "def double(x):\n    return x + 1"
CELLS = ("%matplotlib inline\nimport math", BROKEN, "y = double(5)\nprint(y)", "assert y == 10\nassert double(3) == 6")
CELL_WISE = {**EVERYTHING, "notebookDocument": {"synchronization": {"dynamicRegistration": False}}}
AT = {"name": 4, "line": 1}


class Notebooks(Editor):
    """A client that sends cells. Documents are named by the number that a cell had first."""

    file = "nb.ipynb"

    def uri(self, name):
        if isinstance(name, str):
            return super().uri(name)
        return f"vscode-notebook-cell:{self.root.as_uri().removeprefix('file:')}/{self.file}#W{name}sZmlsZQ%3D%3D"

    def item(self, number, text):
        self.buffers[self.uri(number)] = [1, text]
        return {"uri": self.uri(number), "languageId": "python", "version": 1, "text": text}

    def open_notebook(self, *texts, version=1):
        """A text cell first, as most notebooks have."""
        self.version, self.cells = version, [0, *range(1, len(texts) + 1)]
        cells = [{"kind": 2 if n else 1, "document": self.uri(n)} for n in self.cells]
        document = {"uri": self.uri(self.file), "notebookType": "jupyter-notebook", "version": version, "cells": cells}
        items = [self.item(n, text) for n, text in enumerate(texts, 1)]
        self.notify("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": items})

    def did_change(self, change):
        self.version += 1
        document = {"uri": self.uri(self.file), "version": self.version}
        self.notify("notebookDocument/didChange", {"notebookDocument": document, "change": {"cells": change}})

    def _changed(self, uri, text):
        if uri.startswith("vscode"):
            version = self.buffers[uri][0] + 1
            self.buffers[uri] = [version, text]
            changes = [{"document": {"uri": uri, "version": version}, "changes": [{"text": text}]}]
            self.did_change({"textContent": changes})
        else:
            super()._changed(uri, text)

    async def wait(self, holds, what="a message", seconds=WAIT):
        """A wall is opened for each of these servers, which takes its time on a busy machine."""
        return await super().wait(holds, what, WAIT)

    def insert(self, position, number, text):
        self.cells.insert(position, number)
        array = {"start": position, "deleteCount": 0, "cells": [{"kind": 2, "document": self.uri(number)}]}
        self.did_change({"structure": {"array": array, "didOpen": [self.item(number, text)]}})

    def remove(self, position):
        number = self.cells.pop(position)
        array = {"start": position, "deleteCount": 1}
        self.did_change({"structure": {"array": array, "didClose": [{"uri": self.uri(number)}]}})

    def close_notebook(self):
        gone = [{"uri": self.uri(n)} for n in self.cells if n]
        document = {"uri": self.uri(self.file)}
        self.notify("notebookDocument/didClose", {"notebookDocument": document, "cellTextDocuments": gone})


@pytest.fixture
async def notebooks(tmp_path):
    root = tmp_path / "my project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    async for editor in served(root, tmp_path, kind=Notebooks):
        yield editor


def answers(tmp_path, *texts):
    """What the scripted model will say, in each run from the beginning."""
    script = tmp_path / "answers.jsonl"
    script.write_text("".join(json.dumps(f"```python\n{text}\n```") + "\n" for text in texts))
    return script


async def begin(editor, tmp_path, *texts, capabilities=CELL_WISE, cells=CELLS, **more):
    script = answers(tmp_path, *(texts or [BROKEN.replace("x + 1", "x * 2")]))
    settings = {"model": f"scripted:{script}", "preset": "plain", "sandbox": {"kind": "bubblewrap"}, **more}
    result = await editor.start(capabilities, opened=(), **settings)
    if cells:
        editor.open_notebook(*cells)
    return result


async def an_edit(editor):
    await editor.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit", seconds=WAIT)


async def test_checks_in_a_cell_mend_the_function_in_another(notebooks, tmp_path):
    result = await begin(notebooks, tmp_path)
    assert result["capabilities"]["notebookDocumentSync"]["notebookSelector"]
    await notebooks.action("Refine until tests pass: test_cell_4", **AT)
    await an_edit(notebooks)
    await notebooks.told("Changed nb.ipynb cell 2 row 2")
    (change,) = notebooks.edits[0]["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": notebooks.uri(2), "version": 1}
    assert notebooks.text(2) == BROKEN.replace("x + 1", "x * 2")
    assert sorted(each.name for each in notebooks.root.iterdir()) == ["pyproject.toml"]


async def test_without_document_changes(notebooks, tmp_path):
    plain = without(CELL_WISE, "workspace.workspaceEdit")
    await begin(notebooks, tmp_path, capabilities=plain)
    await notebooks.action("Refine", **AT)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert list(notebooks.edits[0]["edit"]["changes"]) == [notebooks.uri(2)]
    assert notebooks.text(2) == BROKEN.replace("x + 1", "x * 2")


async def test_failures_stand_in_their_cells_and_hover_tells_the_attempts(notebooks, tmp_path):
    await begin(notebooks, tmp_path, BROKEN.replace("+ 1", "* 3"), attempts=1)
    await notebooks.action("Refine", **AT)
    shown = await notebooks.diagnosed(lambda items: any("not solved" in item["message"] for item in items), name=4)
    failing = next(item for item in shown if item["source"].startswith("greenloop attempt 1"))
    assert "assert y == 10" in failing["message"] or "15" in failing["message"]
    assert failing["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 14}}
    hover = (await notebooks.hover(name=4, line=0))["value"]
    assert "x * 3" in hover
    titles = [each["title"] for each in await notebooks.actions(**AT)]
    assert any(title.startswith("Show attempts") for title in titles), titles


async def test_attempts_are_changes_of_cells(notebooks, tmp_path):
    """Not of the module that ran, in which magics and asserts are comments and the later cells are missing."""
    wrong = [BROKEN.replace("x + 1", each) for each in ("x * 3", "x * 4")]
    await begin(notebooks, tmp_path, *wrong, attempts=2, cells=(*CELLS, "last = 1"))
    await notebooks.action("Refine", **AT)
    await notebooks.diagnosed(lambda items: any("not solved" in item["message"] for item in items), name=4)
    about = {"uri": notebooks.uri(4), "target": "test_nb_ipynb.py::test_cell_4"}
    for number, text in enumerate(wrong, 1):
        found = await notebooks.call("greenloop/attempt", {**about, "attempt": number})
        assert found == {"files": [{"uri": notebooks.uri(2), "text": text}]}
    hover = (await notebooks.hover(name=4, line=0))["value"]
    page = (await notebooks.call("greenloop/report", about))["markdown"]
    for shown, numbers in ((hover, (3,)), (page, (3, 4))):
        changed = [row for row in shown.splitlines() if re.match(r"[+-] ", row)]
        assert changed == [row for n in numbers for row in ("-    return x + 1", f"+    return x * {n}")]
        assert "nb_ipynb.py" not in shown
    await notebooks.execute("greenloop.compare", {**about, "attempt": 1})
    shown = await notebooks.wait(lambda m: m.get("method") == "window/showDocument", "the comparison")
    comparison = Path(urlsplit(shown["params"]["uri"]).path).read_text()
    assert "\n-    return x + 1\n+    return x * 3\n" in comparison
    assert "nb_ipynb.py" not in comparison


async def test_an_error_in_an_attempt_is_told_by_its_cell(notebooks, tmp_path):
    """Its lines are the attempt's own, which reach into the next cell's rows."""
    wrong = f"{BROKEN.partition('return')[0]}y = x\n    y += 1\n    y += 2\n    return y[0]"
    await begin(notebooks, tmp_path, wrong, attempts=1)
    await notebooks.action("Refine", **AT)
    await notebooks.diagnosed(lambda items: any("not solved" in item["message"] for item in items), name=4)
    (failing,) = notebooks.shown(3)
    assert failing["source"].startswith("greenloop attempt 1")
    assert "at nb.ipynb cell 2 row 5 of attempt 1" in failing["message"]


async def test_notebooks_whose_names_are_alike_are_not_mixed_up(notebooks, tmp_path):
    """`a-b` and `a b` are the same where a module can have neither."""
    await begin(notebooks, tmp_path, cells=())
    notebooks.file = "a-b.ipynb"
    notebooks.open_notebook(*CELLS)
    first = notebooks.uri(2)
    notebooks.file = "a b.ipynb"
    notebooks.open_notebook("x = 1")
    notebooks.file = "a-b.ipynb"
    await notebooks.action("Refine until tests pass: test_cell_4", **AT)
    await an_edit(notebooks)
    await notebooks.told("Fixed: a-b.ipynb:4 passes")
    assert notebooks.buffers[first][1] == BROKEN.replace("x + 1", "x * 2")


async def test_a_notebook_that_is_called_test(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=())
    notebooks.file = "test.ipynb"
    notebooks.open_notebook(*CELLS)
    await notebooks.action("Refine until tests pass: double", name=2, line=1)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert notebooks.text(2) == BROKEN.replace("x + 1", "x * 2")


async def test_diagnostics_move_with_cells_and_go_with_them(notebooks, tmp_path):
    await begin(notebooks, tmp_path, BROKEN.replace("+ 1", "* 3"), attempts=1)
    await notebooks.action("Refine", **AT)
    await notebooks.diagnosed(lambda items: any("not solved" in item["message"] for item in items), name=4)
    before = notebooks.shown(4)
    notebooks.insert(1, 9, "import os\n\nz = 1")
    await notebooks.execute("greenloop.cancel", {"uri": notebooks.uri(4)})
    assert notebooks.shown(4) == before
    assert notebooks.shown(9) == []
    notebooks.change(9, "import os\n\n\n\nz = 1")
    titles = [each["title"] for each in await notebooks.actions(**AT)]
    assert any(title.startswith("Show attempts: test_cell_4") for title in titles), titles
    assert (await notebooks.hover(name=4, line=0)) is not None
    seen = len(notebooks.inbox)
    notebooks.remove(notebooks.cells.index(4))
    await notebooks.execute("greenloop.cancel", {"uri": notebooks.uri(2)})
    late = [m["params"] for m in notebooks.inbox[seen:] if m.get("method") == "textDocument/publishDiagnostics"]
    assert late
    assert all(each["diagnostics"] == [] for each in late), late


async def test_cells_that_come_meanwhile_do_not_matter(notebooks, tmp_path):
    """The result is merged with what was typed and verified again, in the cell where the function is by then."""
    await begin(notebooks, tmp_path, apply="ask")
    asked = []

    def wait_with_the_answer(params):
        if "Apply the change?" in params["message"]:
            notebooks.insert(2, 9, "import os")
            notebooks.change(1, "%matplotlib inline\nimport math\nimport re")
            asked.append(params["message"])
            return {"title": "Apply"}
        return None

    notebooks.answers["window/showMessageRequest"] = wait_with_the_answer
    await notebooks.action("Refine", **AT)
    await an_edit(notebooks)
    await notebooks.told("together with your edits")
    assert asked
    assert notebooks.text(2) == BROKEN.replace("x + 1", "x * 2")
    assert [each["textDocument"]["uri"] for each in notebooks.edits[0]["edit"]["documentChanges"]] == [notebooks.uri(2)]
    assert notebooks.text(9) == "import os"


async def test_a_cell_that_is_gone_takes_no_edit(notebooks, tmp_path):
    await begin(notebooks, tmp_path, apply="ask")

    def remove_first(params):
        if "Apply the change?" in params["message"]:
            notebooks.remove(2)
            return {"title": "Apply"}
        return None

    notebooks.answers["window/showMessageRequest"] = remove_first
    await notebooks.action("Refine", **AT)
    await notebooks.told("Not applied: ")
    assert notebooks.edits == []
    assert notebooks.text(4) == CELLS[3]


async def test_a_function_that_nobody_has_written_lands_above_its_checks(notebooks, tmp_path):
    answer = 'def slug(text):\n    return text.lower().replace(" ", "-")'
    await begin(notebooks, tmp_path, answer, cells=("a = 1", 'assert slug("A B") == "a-b"'))
    await notebooks.action("Refine", name=2, line=0)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert notebooks.text(2) == f'{answer}\n\n\nassert slug("A B") == "a-b"'
    assert notebooks.text(1) == "a = 1"


async def test_a_docstring_in_a_cell(notebooks, tmp_path):
    stub = 'def double(x):\n    """Twice x.\n\n    >>> double(4)\n    8\n    """\n    raise NotImplementedError'
    await begin(
        notebooks, tmp_path, stub.replace("raise NotImplementedError", "return x * 2"), cells=("import os", stub)
    )
    await notebooks.action("Implement from docstring: double", name=2, line=3)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert notebooks.text(2) == stub.replace("raise NotImplementedError", "return x * 2")


async def test_a_docstring_that_is_the_whole_function(notebooks, tmp_path):
    stub = 'def double(x):\n    """Twice x.\n\n    >>> double(4)\n    8\n    """'
    cells = ("import os", stub, "print(double(1))")
    await begin(notebooks, tmp_path, f"{stub}\n\n    return x * 2", cells=cells)
    await notebooks.action("Implement from docstring: double", name=2, line=3)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert [notebooks.text(n) for n in (1, 2, 3)] == ["import os", f"{stub}\n\n    return x * 2", cells[2]]


async def test_an_earlier_cell_that_fails_is_named(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=("x = {}", "x['a']", BROKEN, "assert double(2) == 4"))
    await notebooks.action("Refine", **AT)
    await notebooks.told("Cell 2 of nb.ipynb fails in row 1: KeyError")
    assert notebooks.edits == []


async def test_an_earlier_cell_that_does_not_parse_is_named(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=("x = (", BROKEN, "assert double(2) == 4"))
    await notebooks.action("Refine", name=3, line=0)
    await notebooks.told("Cell 1 of nb.ipynb cannot be read in row 1")


async def test_nothing_is_offered_where_nothing_can_be_refined(notebooks, tmp_path):
    await begin(notebooks, tmp_path)
    assert await notebooks.actions(name=1, line=0) == []
    assert await notebooks.actions(name=3, line=0) == []
    assert await notebooks.actions(name=0, line=0) == []
    assert [each["title"] for each in await notebooks.actions(name=2, line=1)] == ["Refine until tests pass: double"]


async def test_a_closed_notebook_shows_nothing_and_can_be_opened_again(notebooks, tmp_path):
    await begin(notebooks, tmp_path, BROKEN.replace("+ 1", "* 3"), attempts=1)
    await notebooks.action("Refine", **AT)
    await notebooks.diagnosed(lambda items: any("not solved" in item["message"] for item in items), name=4)
    notebooks.close_notebook()
    assert await notebooks.actions(**AT) == []
    assert notebooks.shown(4) == []
    notebooks.open_notebook(*CELLS)
    answers(tmp_path, BROKEN.replace("+ 1", "* 2"))
    await notebooks.action("Refine", **AT)
    await an_edit(notebooks)
    await notebooks.told("Fixed: ")
    assert notebooks.text(2) == BROKEN.replace("x + 1", "x * 2")


async def test_jupyterlab_sends_all_cells_as_one_text(notebooks, tmp_path):
    """It declares neither code actions nor edits: diagnostics and hover are what it shows."""
    lab = {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}, "publishDiagnostics": {}}}
    await begin(notebooks, tmp_path, BROKEN.replace("+ 1", "* 3"), capabilities=lab, cells=(), attempts=1)
    name = ".virtual_documents/nb.ipynb"
    text = "get_ipython().run_line_magic('matplotlib', 'inline')\n\n\n" + "\n\n\n".join(CELLS[1:])
    row = text.split("\n").index("assert y == 10")
    notebooks.open(name, text)
    position = {"line": row, "character": 0}
    await notebooks.call("greenloop/refine", {"uri": notebooks.uri(name), "position": position})
    items = notebooks.shown(name)
    failing = next(item for item in items if item["source"].startswith("greenloop attempt 1"))
    assert failing["range"]["start"] == {"line": row, "character": 0}
    assert "x * 3" in (await notebooks.hover(name=name, line=row))["value"]
    notebooks.change(name, "x = 1\n" + text)
    assert "x * 3" in (await notebooks.hover(name=name, line=row + 1))["value"]


async def test_lenses_stand_above_checks(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=("import os", "x = 1\n\nassert double(x) == 2"))
    lenses = await notebooks.call("textDocument/codeLens", {"textDocument": {"uri": notebooks.uri(2)}})
    titles = [(each["range"]["start"]["line"], each["command"]["title"]) for each in lenses]
    assert titles == [(2, "▶ Run"), (2, "Refine")]
    assert await notebooks.call("textDocument/codeLens", {"textDocument": {"uri": notebooks.uri(1)}}) == []


async def test_checks_run_in_the_sandbox_with_the_cells_before(notebooks, tmp_path):
    await begin(notebooks, tmp_path)
    await notebooks.action("Run in the sandbox: test_cell_4", **AT)
    await notebooks.told("1 failed in")
    (red,) = notebooks.shown(4)
    assert (red["range"]["start"]["line"], red["code"]) == (0, "AssertionError")
    lenses = await notebooks.call("textDocument/codeLens", {"textDocument": {"uri": notebooks.uri(4)}})
    assert "✗ 0/1" in lenses[-1]["command"]["title"]
    notebooks.change(2, BROKEN.replace("x + 1", "x * 2"))
    await notebooks.execute("greenloop.runTest", {"uri": notebooks.uri(4)})
    await notebooks.told("1 passed in")
    assert notebooks.shown(4) == []
    assert sorted(each.name for each in notebooks.root.iterdir()) == ["pyproject.toml"]


async def test_all_red_checks_of_a_notebook_are_refined(notebooks, tmp_path):
    """Checks that pass are left alone."""
    await begin(notebooks, tmp_path, cells=(*CELLS, "assert len('ab') == 2"))
    await notebooks.execute("greenloop.refineAll", {"uri": notebooks.uri(1)})
    await notebooks.told("1 of 2 tests fails; refining it.")
    await an_edit(notebooks)
    await notebooks.told("Changed nb.ipynb cell 2 row 2")


async def test_a_cell_that_fails_before_the_checks_is_named(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=("1 / 0", *CELLS))
    await notebooks.execute("greenloop.runTest", {"uri": notebooks.uri(1)})
    await notebooks.told("Cell 1 of nb.ipynb fails in row 1: ZeroDivisionError")


async def test_checks_of_a_notebook_that_is_closed_end(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=("import time", "time.sleep(600)", "assert True"))
    await notebooks.execute("greenloop.runTest", {"uri": notebooks.uri(1)})
    notebooks.close_notebook()
    ended = notebooks.request("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})
    assert (await notebooks.reply(ended))["result"] == 0


async def test_a_notebook_without_checks_has_nothing_to_run(notebooks, tmp_path):
    await begin(notebooks, tmp_path, cells=CELLS[:3])
    number = notebooks.request(
        "workspace/executeCommand", {"command": "greenloop.runTest", "arguments": [{"uri": notebooks.uri(2)}]}
    )
    assert "nb.ipynb has no checks. Write a check with assert." in (await notebooks.reply(number))["error"]["message"]


async def left_waiting(editor, tmp_path):
    """Another server in the place of one that was killed over a result that nobody applied."""
    await begin(editor, tmp_path, apply="ask")
    await editor.action("Refine until tests pass: test_cell_4", **AT)
    await editor.told("Not applied automatically")
    editor.process.kill()
    await editor.process.wait()
    async for later in served(editor.root, tmp_path, kind=Notebooks):
        await begin(later, tmp_path, cells=())
        yield later


async def test_a_result_that_waits_is_offered_after_a_restart(notebooks, tmp_path):
    async for later in left_waiting(notebooks, tmp_path):
        later.open_notebook(*CELLS)
        await later.wait(lambda m: "Restored the earlier run" in str(m.get("params")), "what an earlier server left")
        await later.action("Apply refined double", **AT)
        await an_edit(later)
        assert later.text(2) == BROKEN.replace("x + 1", "x * 2")


async def test_a_result_for_other_cells_is_not_offered_after_a_restart(notebooks, tmp_path):
    async for later in left_waiting(notebooks, tmp_path):
        later.open_notebook(*CELLS[:1], "n = 3", *CELLS[1:])
        # One that fits is told at once; here a whole run of tests goes by first.
        await later.execute("greenloop.runTest", {"uri": later.uri(1)})
        await later.told("1 failed in")
        assert not [each for each in await later.actions(name=5, line=1) if each["title"].startswith("Apply")]
