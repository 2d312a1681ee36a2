// An applied result stays marked until it is kept or undone.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { failingProject, functionSource, modelAnswer } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, askWindow, openFile, prepareProject, story, test, undo, uri, waitForText } from "./helpers";

const RESULT = ["Keep", "Undo", "Show attempts", "Compare"];

/** Refines a function, and opens the module with the applied result. */
async function refine(name: string): Promise<vscode.TextDocument> {
  prepareProject([modelAnswer(functionSource(name, "x * 2"))], failingProject(name));
  await openFile(`test_${name}.py`);
  await applyCodeAction(`test_${name}.py`, 4, "Refine until tests pass: ");
  const module = (await openFile(`${name}.py`)).document;
  await waitForText(module, functionSource(name, "x * 2"));
  return module;
}

/** The marks of a document: the row of its lenses, undefined without them. */
async function waitForMarks(module: vscode.TextDocument, row: number | undefined): Promise<void> {
  let last: unknown;
  await until(`marks at ${String(row)}`, async () => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", module.uri, 100);
    const marks = lenses.filter((each) => RESULT.some((title) => each.command?.title.endsWith(` ${title}`)));
    last = marks.map((each) => each.command?.title);
    return marks.length === (row === undefined ? 0 : RESULT.length) && marks.every((each) => each.range.start.line === row);
  }, () => last);
}

async function insert(module: vscode.TextDocument, line: number, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(module.uri, new vscode.Position(line, 0), text);
  await vscode.workspace.applyEdit(edit);
}

story("an applied result is marked until it is undone, and what was typed since stays", async () => {
  const module = await refine("marked");
  await waitForMarks(module, 1);
  await insert(module, 0, "# typed since\n");
  await waitForMarks(module, 2);
  await vscode.commands.executeCommand("greenloop.here.undo");
  await waitForText(module, `# typed since\n${functionSource("marked", "x + 1")}`);
  await waitForMarks(module, undefined);
  await undo("marked.py");
  await waitForText(module, `# typed since\n${functionSource("marked", "x * 2")}`);
});

test("what was typed in the result is never taken back", async () => {
  const module = await refine("edited");
  await waitForMarks(module, 1);
  await insert(module, 1, "    # mine\n");
  await vscode.commands.executeCommand("greenloop.here.undo");
  await askWindow("see", "test_edited was not undone: you have edited the same lines since.");
  assert.equal(module.getText(), "def edited(x):\n    # mine\n    return x * 2\n");
});

test("keeping removes the marks for good, and the editor's own undo as well", async () => {
  const kept = await refine("kept");
  await waitForMarks(kept, 1);
  await vscode.commands.executeCommand("greenloop.here.keep");
  await waitForMarks(kept, undefined);
  assert.equal(kept.getText(), functionSource("kept", "x * 2"));
  const undone = await refine("undone");
  await waitForMarks(undone, 1);
  await undo("undone.py");
  await waitForMarks(undone, undefined);
  assert.equal(undone.getText(), functionSource("undone", "x + 1"));
  assert.equal(uri("undone.py").toString(), undone.uri.toString());
});
