// The story of a red test, as a program inside of VS Code sees it.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import { answer, fn, red, waiting } from "../support/projects";
import { until } from "../support/until";
import { act, actions, becomes, diagnostics, gate, go, isClear, open, put, root, shows, test, undo, uri } from "./kit";

const REFINE = "Refine until tests pass: ";

function disk(name: string): string {
  return fs.readFileSync(path.join(root(), name), "utf8");
}

test("a red test, a function and a docstring have actions", async () => {
  const doc = 'def triple(x):\n    """Three times x.\n\n    >>> triple(2)\n    6\n    """\n    raise NotImplementedError\n';
  put([], { ...red("begin"), "told.py": doc });
  for (const name of ["begin.py", "test_begin.py", "told.py"]) await open(name);
  const kinds = (found: vscode.CodeAction[], title: string): string | undefined =>
    found.find((each) => each.title.startsWith(title))?.kind?.value;
  assert.equal(kinds(await actions("test_begin.py", 4, `${REFINE}test_begin`), REFINE), "quickfix");
  assert.equal(kinds(await actions("begin.py", 1, `${REFINE}begin`), REFINE), "refactor.rewrite");
  await actions("told.py", 2, "Implement from docstring: triple");
  const presets = await actions("test_begin.py", 4, "", "refactor.rewrite.greenloop.preset");
  assert.ok(presets.some((each) => each.title.includes("self-debug")), presets.map((each) => each.title).join("\n"));
});

test("a run shows its attempts, lands in one edit, and one undo takes it back", async () => {
  const files = red("plus");
  const held = waiting("plus", "x * 4", gate("plus"));
  put([answer(fn("plus", "x * 3")), answer(held), answer(fn("plus", "x * 2"))], files);
  const module = (await open("plus.py")).document;
  await open("test_plus.py");
  await act("test_plus.py", 4, `${REFINE}test_plus`);

  // Attempt 1 has failed, attempt 2 waits.
  const failure = await shows("test_plus.py", "15 == 10");
  assert.match(failure.source ?? "", /^greenloop attempt 1\//);
  assert.equal(failure.code, "AssertionError");
  assert.equal(failure.range.start.line, 4);
  await shows("test_plus.py", "Refining test_plus");

  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", uri("test_plus.py"), new vscode.Position(3, 6));
  const texts = hovers.flatMap((each) => each.contents).filter((each) => each instanceof vscode.MarkdownString);
  const table = texts.find((each) => each.value.includes("| attempt"));
  assert.ok(table, JSON.stringify(hovers));
  assert.match(table.value, /your code/);
  assert.match(table.value, /\| *-+ *\|/);
  // What a model wrote must not run commands, load pictures or be HTML.
  assert.ok(table.isTrusted !== true && table.supportHtml !== true, JSON.stringify(table));

  go("plus");
  await becomes(module, fn("plus", "x * 2"));
  await isClear("test_plus.py");
  assert.equal(module.isDirty, true);
  await undo("plus.py");
  assert.equal(module.getText(), files["plus.py"]);
  assert.equal(module.isDirty, false);
  await vscode.commands.executeCommand("redo");
  assert.equal(module.getText(), fn("plus", "x * 2"));
  assert.deepEqual({ "plus.py": disk("plus.py"), "test_plus.py": disk("test_plus.py") }, files);
  await undo("plus.py");
});

test("a result lands in a file that is closed", async () => {
  const files = red("closed");
  put([answer(fn("closed", "x * 2"))], files);
  await open("test_closed.py");
  assert.ok(!vscode.workspace.textDocuments.some((each) => each.fileName.endsWith("/closed.py")));
  await act("test_closed.py", 4, `${REFINE}test_closed`);
  const module = await until("the file's document", () => vscode.workspace.textDocuments.find((each) => each.fileName.endsWith("/closed.py")));
  await becomes(module, fn("closed", "x * 2"));
  assert.equal(disk("closed.py"), files["closed.py"]);
  await undo("closed.py");
  assert.equal(module.getText(), files["closed.py"]);
});

test("a docstring becomes an implementation", async () => {
  const head = 'def triple(x):\n    """Three times x.\n\n    >>> triple(2)\n    6\n    """\n';
  put([answer(fn("triple", "x + 3")), answer(fn("triple", "x * 3"))], { "docs.py": `${head}    raise NotImplementedError\n` });
  const module = (await open("docs.py")).document;
  await act("docs.py", 2, "Implement from docstring: triple");
  await becomes(module, `${head}    return x * 3\n`);
  assert.deepEqual(diagnostics("docs.py").filter((each) => each.severity === vscode.DiagnosticSeverity.Error), []);
});

test("a module that is not there yet is made by the edit", async () => {
  const code = "from fresh import double\n\n\ndef test_double():\n    assert double(5) == 10\n";
  put([answer(fn("double", "x * 2"))], { "test_fresh.py": code });
  await open("test_fresh.py");
  await act("test_fresh.py", 4, `${REFINE}test_double`);
  const module = await until("fresh.py", () => vscode.workspace.textDocuments.find((each) => each.fileName.endsWith("/fresh.py")));
  await becomes(module, fn("double", "x * 2"));
});
