// Refining a failing test, as a program inside VS Code sees it.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import { boxSource, FAST_SOURCE, failingProject, functionSource, modelAnswer, SLOW_SOURCE, slowProject, waitingFunction } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, askWindow, codeActions, createGate, diagnostics, openFile, openGate, prepareProject, projectFolder, story, test, undo, uri, waitForDiagnostic, waitForNoDiagnostics, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";

function readFile(name: string): string {
  return fs.readFileSync(path.join(projectFolder(), name), "utf8");
}

test("a failing test, a function and a docstring have code actions", async () => {
  const doc = 'def triple(x):\n    """Three times x.\n\n    >>> triple(2)\n    6\n    """\n    raise NotImplementedError\n';
  prepareProject([], { ...failingProject("begin"), "documented.py": doc });
  for (const name of ["begin.py", "test_begin.py", "documented.py"]) await openFile(name);
  const kinds = (found: vscode.CodeAction[], title: string): string | undefined =>
    found.find((each) => each.title.startsWith(title))?.kind?.value;
  assert.equal(kinds(await codeActions("test_begin.py", 4, `${REFINE}test_begin`), REFINE), "quickfix");
  assert.equal(kinds(await codeActions("begin.py", 1, `${REFINE}begin`), REFINE), "refactor.rewrite");
  await codeActions("documented.py", 2, "Implement from docstring: triple");
});

story("a run shows its attempts and is applied as one edit, which one undo reverts", async () => {
  const files = failingProject("plus");
  const waitingAnswer = waitingFunction("plus", "x * 4", createGate("plus"));
  prepareProject([modelAnswer(functionSource("plus", "x * 3")), modelAnswer(waitingAnswer), modelAnswer(functionSource("plus", "x * 2"))], files);
  const module = (await openFile("plus.py")).document;
  await openFile("test_plus.py");
  await applyCodeAction("test_plus.py", 4, `${REFINE}test_plus`);

  // Attempt 1 has failed, attempt 2 is waiting.
  const failure = await waitForDiagnostic("test_plus.py", "15 == 10");
  assert.match(failure.source ?? "", /^greenloop attempt 1\//);
  assert.equal(failure.code, "AssertionError");
  assert.equal(failure.range.start.line, 4);
  await waitForDiagnostic("test_plus.py", "Refining test_plus");

  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", uri("test_plus.py"), new vscode.Position(3, 6));
  const texts = hovers.flatMap((each) => each.contents).filter((each) => each instanceof vscode.MarkdownString);
  const table = texts.find((each) => each.value.includes("| attempt"));
  assert.ok(table, JSON.stringify(hovers));
  assert.match(table.value, /your code/);
  assert.match(table.value, /\| *-+ *\|/);
  // Text written by a model must not run commands, load pictures or be HTML.
  assert.ok(table.isTrusted !== true && table.supportHtml !== true, JSON.stringify(table));

  openGate("plus");
  await waitForText(module, functionSource("plus", "x * 2"));
  await waitForNoDiagnostics("test_plus.py");
  assert.equal(module.isDirty, true);
  await undo("plus.py");
  assert.equal(module.getText(), files["plus.py"]);
  assert.equal(module.isDirty, false);
  await vscode.commands.executeCommand("redo");
  assert.equal(module.getText(), functionSource("plus", "x * 2"));
  assert.deepEqual({ "plus.py": readFile("plus.py"), "test_plus.py": readFile("test_plus.py") }, files);
  await undo("plus.py");
});

test("passing code becomes faster, and one undo takes it back", async () => {
  prepareProject([modelAnswer(FAST_SOURCE)], slowProject("swift"));
  const module = (await openFile("swift.py")).document;
  await applyCodeAction("swift.py", 1, `${REFINE}unique`);
  const offered = await codeActions("swift.py", 1, "Improve while tests pass (faster): unique");
  assert.ok(offered.some((each) => each.title === "Improve while tests pass (less memory): unique"));
  await applyCodeAction("swift.py", 1, "Improve while tests pass (faster): unique");
  await waitForText(module, FAST_SOURCE);
  await undo("swift.py");
  assert.equal(module.getText(), SLOW_SOURCE);

  // By the command: a goal is chosen, and a wish is typed.
  prepareProject([modelAnswer(FAST_SOURCE)]);
  const editor = await openFile("swift.py");
  editor.selection = new vscode.Selection(0, 5, 0, 5);
  const command = vscode.commands.executeCommand("greenloop.here.improve");
  await askWindow("answer", "as a comment");
  await askWindow("answer", "use a dict");
  await command;
  await applyCodeAction("swift.py", 1, "Apply refined unique");
  await waitForText(module, FAST_SOURCE);
  await undo("swift.py");
});

test("a result is applied to a closed file", async () => {
  const files = failingProject("closed");
  prepareProject([modelAnswer(functionSource("closed", "x * 2"))], files);
  await openFile("test_closed.py");
  assert.ok(!vscode.workspace.textDocuments.some((each) => each.fileName.endsWith("/closed.py")));
  await applyCodeAction("test_closed.py", 4, `${REFINE}test_closed`);
  const module = await until("the file's document", () => vscode.workspace.textDocuments.find((each) => each.fileName.endsWith("/closed.py")));
  await waitForText(module, functionSource("closed", "x * 2"));
  assert.equal(readFile("closed.py"), files["closed.py"]);
  await undo("closed.py");
  assert.equal(module.getText(), files["closed.py"]);
});

story("a function is implemented from its docstring", async () => {
  const head = 'def triple(x):\n    """Three times x.\n\n    >>> triple(2)\n    6\n    """\n';
  prepareProject([modelAnswer(functionSource("triple", "x + 3")), modelAnswer(functionSource("triple", "x * 3"))], { "docs.py": `${head}    raise NotImplementedError\n` });
  const module = (await openFile("docs.py")).document;
  await applyCodeAction("docs.py", 2, "Implement from docstring: triple");
  await waitForText(module, `${head}    return x * 3\n`);
  assert.deepEqual(diagnostics("docs.py").filter((each) => each.severity === vscode.DiagnosticSeverity.Error), []);
});

test("a class is filled in one edit, which one undo reverts", async () => {
  const before = boxSource("raise NotImplementedError", "raise NotImplementedError");
  const after = boxSource("self.items = []", "return self.items.pop()");
  const test = "from filled import Box\n\n\ndef test_box():\n    box = Box()\n    box.items.append(1)\n    assert box.take() == 1\n";
  prepareProject([modelAnswer(after)], { "filled.py": before, "test_filled.py": test });
  const module = (await openFile("filled.py")).document;
  const fill = "Fill this class: Box";
  assert.equal((await codeActions("filled.py", 1, fill)).find((each) => each.title === fill)?.kind?.value, "refactor.rewrite");
  await applyCodeAction("filled.py", 1, fill);
  await waitForText(module, after);
  await waitForNoDiagnostics("filled.py");
  await undo("filled.py");
  assert.equal(module.getText(), before);
});

test("an unsolved run goes on with its attempts", async () => {
  prepareProject([modelAnswer(functionSource("again", "x * 3"))], failingProject("again"));
  const module = (await openFile("again.py")).document;
  await openFile("test_again.py");
  await applyCodeAction("test_again.py", 4, `${REFINE}test_again`);
  await codeActions("test_again.py", 4, "Continue after 1 attempt: test_again");
  prepareProject([modelAnswer(functionSource("again", "x * 2"))]);
  await applyCodeAction("test_again.py", 4, "Continue after 1 attempt: test_again");
  await waitForText(module, functionSource("again", "x * 2"));
  await waitForNoDiagnostics("test_again.py");
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", uri("again.py"), new vscode.Position(0, 5));
  const text = hovers.flatMap((each) => each.contents).map((each) => (each instanceof vscode.MarkdownString ? each.value : "")).join("\n");
  // The attempt of the first run, and the one that solved it.
  for (const row of ["| 1 ", "AssertionError", "| 2 ", "passed 1/1"]) assert.ok(text.includes(row), text);
  assert.ok(!(await codeActions("test_again.py", 4, REFINE)).some((each) => each.title.startsWith("Continue")));
  await undo("again.py");
});

test("the edit creates a module that does not exist yet", async () => {
  const code = "from fresh import double\n\n\ndef test_double():\n    assert double(5) == 10\n";
  prepareProject([modelAnswer(functionSource("double", "x * 2"))], { "test_fresh.py": code });
  await openFile("test_fresh.py");
  await applyCodeAction("test_fresh.py", 4, `${REFINE}test_double`);
  const module = await until("fresh.py", () => vscode.workspace.textDocuments.find((each) => each.fileName.endsWith("/fresh.py")));
  await waitForText(module, functionSource("double", "x * 2"));
});
