// The view of the attempts and the diff editor: what stands in them, as the window shows it.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { answer, fn, red, waiting } from "../support/projects";
import { until } from "../support/until";
import { act, ask, becomes, gate, go, open, put, rows, shows, test } from "./kit";

const REFINE = "Refine until tests pass: ";

function diff(): vscode.TabInputTextDiff | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff ? input : undefined;
}

test("the view shows runs and attempts, a click compares one with the user's code", async () => {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await vscode.commands.executeCommand("greenloop.discard");
  const files = red("viewed");
  const held = waiting("viewed", "x * 4", gate("viewed"));
  put([answer(fn("viewed", "x * 3")), answer(held), answer(fn("viewed", "x * 2"))], files);
  const module = (await open("viewed.py")).document;
  await open("test_viewed.py");
  await act("test_viewed.py", 4, `${REFINE}test_viewed`);
  await shows("test_viewed.py", "15 == 10");

  let seen: string[] = [];
  const has = (...all: string[]) => async (): Promise<boolean> => {
    seen = await rows();
    return all.every((words) => seen.some((row) => row.includes(words)));
  };
  await until("run with its first attempt", has("test_viewed", "Your code", "Attempt 1"), () => seen);
  const first = seen.find((row) => row.includes("Attempt 1")) ?? "";
  assert.match(first, /failed, 0 of 1 tests pass/);
  assert.match(first, /0\/1 AssertionError/);
  assert.match(first, /\d tokens/);

  await ask("row", "Attempt 1");
  const shown = await until("diff", diff);
  assert.equal(shown.original.toString(), module.uri.toString());
  assert.equal((await vscode.workspace.openTextDocument(shown.modified)).getText(), fn("viewed", "x * 3"));
  assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? "", /viewed\.py: attempt 1 of test_viewed \(0\/1\)/);

  go("viewed");
  await becomes(module, fn("viewed", "x * 2"));
  await until("the result", has("Attempt 3"), () => seen);
  assert.match(seen.find((row) => row.includes("Attempt 3")) ?? "", /passed, 1 of 1 tests pass/);

  // What is applied is compared with the text from before.
  await ask("row", "Attempt 3");
  const last = await until("diff of the result", () => (diff()?.modified.query.includes('"attempt":3') === true ? diff() : undefined));
  assert.equal((await vscode.workspace.openTextDocument(last.original)).getText(), files["viewed.py"]);
  assert.equal((await vscode.workspace.openTextDocument(last.modified)).getText(), fn("viewed", "x * 2"));
});

test("attempts are read-only, a report opens and is copied", async () => {
  const input = diff();
  assert.ok(input);
  assert.equal(vscode.workspace.fs.isWritableFileSystem(input.modified.scheme) ?? false, false);
  await open("viewed.py");
  await vscode.commands.executeCommand("greenloop.here.attempts");
  const page = await until("report", () => vscode.workspace.textDocuments.find((each) => each.fileName.includes("test_viewed-")));
  assert.match(page.getText(), /return x \* 3/);
});
