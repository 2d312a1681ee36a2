// The attempts view and the diff editor, as the window shows them.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { failingProject, functionSource, modelAnswer, waitingFunction } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, askWindow, attemptRows, createGate, openFile, openGate, prepareProject, story, test, waitForDiagnostic, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";

function activeDiff(): vscode.TabInputTextDiff | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff ? input : undefined;
}

story("the view shows runs and attempts, and a click compares one with the user's code", async () => {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await vscode.commands.executeCommand("greenloop.discard");
  const files = failingProject("viewed");
  const waitingAnswer = waitingFunction("viewed", "x * 4", createGate("viewed"));
  prepareProject([modelAnswer(functionSource("viewed", "x * 3")), modelAnswer(waitingAnswer), modelAnswer(functionSource("viewed", "x * 2"))], files);
  const module = (await openFile("viewed.py")).document;
  await openFile("test_viewed.py");
  await applyCodeAction("test_viewed.py", 4, `${REFINE}test_viewed`);
  await waitForDiagnostic("test_viewed.py", "15 == 10");

  let rows: string[] = [];
  const showsRows = (...texts: string[]) => async (): Promise<boolean> => {
    rows = await attemptRows();
    return texts.every((text) => rows.some((row) => row.includes(text)));
  };
  await until("run with its first attempt", showsRows("test_viewed", "Your code", "Attempt 1"), () => rows);
  const first = rows.find((row) => row.includes("Attempt 1")) ?? "";
  assert.match(first, /failed, 0 of 1 tests pass/);
  assert.match(first, /0\/1 AssertionError/);
  assert.match(first, /\d tokens/);

  await askWindow("row", "Attempt 1");
  const diff = await until("diff", activeDiff);
  assert.equal(diff.original.toString(), module.uri.toString());
  assert.equal((await vscode.workspace.openTextDocument(diff.modified)).getText(), functionSource("viewed", "x * 3"));
  assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? "", /viewed\.py: attempt 1 of test_viewed \(0\/1\)/);

  openGate("viewed");
  await waitForText(module, functionSource("viewed", "x * 2"));
  await until("row of the result", showsRows("Attempt 3"), () => rows);
  assert.match(rows.find((row) => row.includes("Attempt 3")) ?? "", /passed, 1 of 1 tests pass/);

  // An applied result is compared with the text from before the run.
  // The editor has the edit a moment before the server reports that it was applied.
  const last = await until("diff of the applied result", async () => {
    await askWindow("row", "Attempt 3");
    const label = vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? "";
    return label.includes("attempt 3") && label.endsWith(", applied") ? activeDiff() : undefined;
  });
  assert.equal((await vscode.workspace.openTextDocument(last.original)).getText(), files["viewed.py"]);
  assert.equal((await vscode.workspace.openTextDocument(last.modified)).getText(), functionSource("viewed", "x * 2"));
});

test("attempts are read-only, and the report opens as a page", async () => {
  const input = activeDiff();
  assert.ok(input);
  assert.equal(vscode.workspace.fs.isWritableFileSystem(input.modified.scheme) ?? false, false);
  await openFile("viewed.py");
  await vscode.commands.executeCommand("greenloop.here.attempts");
  const page = await until("report", () => vscode.workspace.textDocuments.find((each) => each.fileName.includes("test_viewed-")));
  assert.match(page.getText(), /return x \* 3/);
});
