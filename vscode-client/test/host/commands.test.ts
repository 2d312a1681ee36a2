// The extension's own commands: at the cursor, from the Test Explorer, on runs; and a result that waits for a word.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { attemptUri } from "../../src/attemptUri";
import { answer, fn, red, waiting } from "../support/projects";
import { until } from "../support/until";
import { ask, becomes, diagnostics, gate, isClear, open, put, shows, tell, test, uri } from "./kit";

const run = (command: string, ...given: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(command, ...given);

async function at(name: string, line: number): Promise<vscode.TextDocument> {
  const editor = await open(name);
  editor.selection = new vscode.Selection(line - 1, 6, line - 1, 6);
  return editor.document;
}

/** What the Python extension's Test Explorer has: a file, in it a test. */
function explorer(name: string): { controller: vscode.TestController; file: vscode.TestItem; item: vscode.TestItem } {
  const controller = vscode.tests.createTestController(`python-tests-${name}`, "Python");
  const file = controller.createTestItem(`test_${name}.py`, `test_${name}.py`, uri(`test_${name}.py`));
  const item = controller.createTestItem(`test_${name}.py::test_${name}`, `test_${name}`, uri(`test_${name}.py`));
  item.range = new vscode.Range(3, 0, 4, 26);
  file.children.add(item);
  controller.items.add(file);
  return { controller, file, item };
}

test("refine at the cursor", async () => {
  put([answer(fn("cursor", "x * 2"))], red("cursor"));
  const module = (await open("cursor.py")).document;
  await at("test_cursor.py", 4);
  await run("greenloop.here.refine");
  await becomes(module, fn("cursor", "x * 2"));
});

test("run in the sandbox: the failing line is shown, and goes when it passes", async () => {
  put([], red("boxed"));
  await at("test_boxed.py", 4);
  await run("greenloop.here.run");
  const failure = await shows("test_boxed.py", "6 == 10");
  assert.deepEqual([failure.severity, failure.range.start.line], [vscode.DiagnosticSeverity.Error, 4]);
  const module = (await open("boxed.py")).document;
  const edit = new vscode.WorkspaceEdit();
  edit.replace(module.uri, module.lineAt(1).range, "    return x * 2");
  await vscode.workspace.applyEdit(edit);
  await at("test_boxed.py", 4);
  await run("greenloop.here.run");
  await isClear("test_boxed.py");
});

test("refine all failing tests of a file", async () => {
  const two = `${red("many")["test_many.py"] ?? ""}\n\ndef test_zero():\n    assert many(0) == 0\n`;
  put([answer(fn("many", "x * 2"))], { ...red("many"), "test_many.py": two });
  const module = (await open("many.py")).document;
  await at("test_many.py", 1);
  await run("greenloop.here.refineAll");
  await becomes(module, fn("many", "x * 2"));
});

test("a run is cancelled, its attempts are discarded", async () => {
  const files = red("halt");
  put([answer(waiting("halt", "x * 4", gate("halt")))], files);
  const module = (await open("halt.py")).document;
  await at("test_halt.py", 4);
  await run("greenloop.here.refine");
  await shows("test_halt.py", "Refining test_halt");
  await run("greenloop.here.cancel");
  await isClear("test_halt.py");
  assert.equal(module.getText(), files["halt.py"]);
});

test("who looks at an attempt of one run and cancels, is asked which of the others is meant", async () => {
  put([answer(fn("shown", "x * 2"))], red("shown"));
  const shown = (await open("shown.py")).document;
  await at("test_shown.py", 4);
  await run("greenloop.here.refine");
  await becomes(shown, fn("shown", "x * 2"));

  put([answer(waiting("going", "x * 4", gate("going")))], red("going"));
  await at("test_going.py", 4);
  await run("greenloop.here.refine");
  await shows("test_going.py", "Refining test_going");
  const about = { uri: uri("test_shown.py").toString(), target: "test_shown.py::test_shown", attempt: 1 };
  await run("vscode.diff", shown.uri, attemptUri({ ...about, file: shown.uri.toString() }), "an attempt");
  await until("the diff", () => vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTextDiff);
  const cancel = run("greenloop.here.cancel");
  await ask("answer", "test_going");
  await cancel;
  await isClear("test_going.py");
});

test("a run keeps the preview that it was asked from", async () => {
  put([answer(waiting("glance", "x * 4", gate("glance")))], red("glance"));
  const editor = await vscode.window.showTextDocument(uri("test_glance.py"), { preview: true });
  editor.selection = new vscode.Selection(3, 6, 3, 6);
  const tab = (): vscode.Tab | undefined =>
    vscode.window.tabGroups.all.flatMap((group) => group.tabs).find((each) => each.label === "test_glance.py");
  await until("a preview", () => tab()?.isPreview);
  await run("greenloop.here.refine");
  await shows("test_glance.py", "Refining test_glance");
  await until("an editor that stays", () => tab()?.isPreview === false);
  await run("greenloop.here.cancel");
  await isClear("test_glance.py");
});

test("the Test Explorer hands a test to the same commands", async () => {
  put([answer(fn("explored", "x * 2"))], red("explored"));
  const module = (await open("explored.py")).document;
  const { controller, item } = explorer("explored");
  try {
    await run("greenloop.here.run", item);
    await shows("test_explored.py", "6 == 10");
    await run("greenloop.here.refine", item);
    await becomes(module, fn("explored", "x * 2"));
  } finally {
    controller.dispose();
  }
});

test("the message of a failed test and a whole file can be refined, too", async () => {
  put([answer(fn("messaged", "x * 2"))], red("messaged"));
  const first = (await open("messaged.py")).document;
  const message = explorer("messaged");
  const text = new vscode.TestMessage("assert 6 == 10");
  await run("greenloop.here.refine", { test: message.item, message: text });
  await becomes(first, fn("messaged", "x * 2"));
  message.controller.dispose();

  put([answer(fn("whole", "x * 2"))], red("whole"));
  const second = (await open("whole.py")).document;
  const whole = explorer("whole");
  await run("greenloop.here.refine", whole.file);
  await becomes(second, fn("whole", "x * 2"));
  whole.controller.dispose();
});

test("nothing to refine: a sentence with a button", async () => {
  await run("workbench.action.closeAllEditors");
  await run("greenloop.here.refine");
  assert.match(await ask("see", "put the cursor into a test"), /Open File/);
  await run("notifications.clearAll");
});

test("a result that waits is shown as a diff, and is applied by its button", async () => {
  const files = red("asked");
  put([answer(fn("asked", "x * 2"))], files);
  const module = (await open("asked.py")).document;
  await at("test_asked.py", 4);
  await tell("apply", "ask");
  try {
    await run("greenloop.here.refine");
    const diff = await until("diff", () => {
      const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return input instanceof vscode.TabInputTextDiff && input.modified.scheme === "greenloop-attempt" ? input : undefined;
    });
    assert.equal((await vscode.workspace.openTextDocument(diff.modified)).getText(), fn("asked", "x * 2"));
    assert.equal(module.getText(), files["asked.py"]);
    await ask("press", "Apply its changes?", "Apply");
    await becomes(module, fn("asked", "x * 2"));
    await until("end of the diff", () => !vscode.window.tabGroups.all.flatMap((group) => group.tabs).some((tab) => tab.input instanceof vscode.TabInputTextDiff));
    assert.deepEqual(diagnostics("test_asked.py"), []);
  } finally {
    await tell("apply", undefined);
  }
});

