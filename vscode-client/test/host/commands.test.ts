// The extension's own commands: at the cursor, from the Test Explorer, on runs; and a result that waits for approval.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { attemptUri } from "../../src/attemptUri";
import { failingProject, functionSource, modelAnswer, waitingFunction } from "../support/projects";
import { until } from "../support/until";
import { askWindow, createGate, diagnostics, openFile, prepareProject, story, test, updateServerSetting, uri, waitForDiagnostic, waitForNoDiagnostics, waitForText } from "./helpers";

const runCommand = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(command, ...args);

async function openAtLine(name: string, line: number): Promise<vscode.TextDocument> {
  const editor = await openFile(name);
  editor.selection = new vscode.Selection(line - 1, 6, line - 1, 6);
  return editor.document;
}

/** Test items like those of the Python extension: a file that contains a test. */
function createExplorer(name: string): { controller: vscode.TestController; file: vscode.TestItem; item: vscode.TestItem } {
  const controller = vscode.tests.createTestController(`python-tests-${name}`, "Python");
  const file = controller.createTestItem(`test_${name}.py`, `test_${name}.py`, uri(`test_${name}.py`));
  const item = controller.createTestItem(`test_${name}.py::test_${name}`, `test_${name}`, uri(`test_${name}.py`));
  item.range = new vscode.Range(3, 0, 4, 26);
  file.children.add(item);
  controller.items.add(file);
  return { controller, file, item };
}

test("refine at the cursor", async () => {
  prepareProject([modelAnswer(functionSource("cursor", "x * 2"))], failingProject("cursor"));
  const module = (await openFile("cursor.py")).document;
  await openAtLine("test_cursor.py", 4);
  await runCommand("greenloop.here.refine");
  await waitForText(module, functionSource("cursor", "x * 2"));
});

story("running a test in the sandbox marks the failing line until the test passes", async () => {
  prepareProject([], failingProject("boxed"));
  await openAtLine("test_boxed.py", 4);
  await runCommand("greenloop.here.run");
  const failure = await waitForDiagnostic("test_boxed.py", "6 == 10");
  assert.deepEqual([failure.severity, failure.range.start.line], [vscode.DiagnosticSeverity.Error, 4]);
  const module = (await openFile("boxed.py")).document;
  const edit = new vscode.WorkspaceEdit();
  edit.replace(module.uri, module.lineAt(1).range, "    return x * 2");
  await vscode.workspace.applyEdit(edit);
  await openAtLine("test_boxed.py", 4);
  await runCommand("greenloop.here.run");
  await waitForNoDiagnostics("test_boxed.py");
});

test("refine all failing tests of a file", async () => {
  const twoTests = `${failingProject("many")["test_many.py"] ?? ""}\n\ndef test_zero():\n    assert many(0) == 0\n`;
  prepareProject([modelAnswer(functionSource("many", "x * 2"))], { ...failingProject("many"), "test_many.py": twoTests });
  const module = (await openFile("many.py")).document;
  await openAtLine("test_many.py", 1);
  await runCommand("greenloop.here.refineAll");
  await waitForText(module, functionSource("many", "x * 2"));
});

story("a cancelled run leaves no diagnostics and no changes", async () => {
  const files = failingProject("halt");
  prepareProject([modelAnswer(waitingFunction("halt", "x * 4", createGate("halt")))], files);
  const module = (await openFile("halt.py")).document;
  await openAtLine("test_halt.py", 4);
  await runCommand("greenloop.here.refine");
  await waitForDiagnostic("test_halt.py", "Refining test_halt");
  await runCommand("greenloop.here.cancel");
  await waitForNoDiagnostics("test_halt.py");
  assert.equal(module.getText(), files["halt.py"]);
});

test("cancelling while the editor shows an attempt of another run asks which run is meant", async () => {
  prepareProject([modelAnswer(functionSource("shown", "x * 2"))], failingProject("shown"));
  const shown = (await openFile("shown.py")).document;
  await openAtLine("test_shown.py", 4);
  await runCommand("greenloop.here.refine");
  await waitForText(shown, functionSource("shown", "x * 2"));

  prepareProject([modelAnswer(waitingFunction("going", "x * 4", createGate("going")))], failingProject("going"));
  await openAtLine("test_going.py", 4);
  await runCommand("greenloop.here.refine");
  await waitForDiagnostic("test_going.py", "Refining test_going");
  const attempt = { uri: uri("test_shown.py").toString(), target: "test_shown.py::test_shown", attempt: 1 };
  await runCommand("vscode.diff", shown.uri, attemptUri({ ...attempt, file: shown.uri.toString() }), "an attempt");
  await until("the diff", () => vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTextDiff);
  const cancel = runCommand("greenloop.here.cancel");
  await askWindow("answer", "test_going");
  await cancel;
  await waitForNoDiagnostics("test_going.py");
});

test("starting a run pins the preview tab that it was started from", async () => {
  prepareProject([modelAnswer(waitingFunction("glance", "x * 4", createGate("glance")))], failingProject("glance"));
  const editor = await vscode.window.showTextDocument(uri("test_glance.py"), { preview: true });
  editor.selection = new vscode.Selection(3, 6, 3, 6);
  const tab = (): vscode.Tab | undefined =>
    vscode.window.tabGroups.all.flatMap((group) => group.tabs).find((each) => each.label === "test_glance.py");
  await until("a preview", () => tab()?.isPreview);
  await runCommand("greenloop.here.refine");
  await waitForDiagnostic("test_glance.py", "Refining test_glance");
  await until("a pinned tab", () => tab()?.isPreview === false);
  await runCommand("greenloop.here.cancel");
  await waitForNoDiagnostics("test_glance.py");
});

test("the Test Explorer passes a test to the same commands", async () => {
  prepareProject([modelAnswer(functionSource("explored", "x * 2"))], failingProject("explored"));
  const module = (await openFile("explored.py")).document;
  const { controller, item } = createExplorer("explored");
  try {
    await runCommand("greenloop.here.run", item);
    await waitForDiagnostic("test_explored.py", "6 == 10");
    await runCommand("greenloop.here.refine", item);
    await waitForText(module, functionSource("explored", "x * 2"));
  } finally {
    controller.dispose();
  }
});

test("the message of a failed test and a whole file can be refined", async () => {
  prepareProject([modelAnswer(functionSource("messaged", "x * 2"))], failingProject("messaged"));
  const first = (await openFile("messaged.py")).document;
  const message = createExplorer("messaged");
  const text = new vscode.TestMessage("assert 6 == 10");
  await runCommand("greenloop.here.refine", { test: message.item, message: text });
  await waitForText(first, functionSource("messaged", "x * 2"));
  message.controller.dispose();

  prepareProject([modelAnswer(functionSource("whole", "x * 2"))], failingProject("whole"));
  const second = (await openFile("whole.py")).document;
  const whole = createExplorer("whole");
  await runCommand("greenloop.here.refine", whole.file);
  await waitForText(second, functionSource("whole", "x * 2"));
  whole.controller.dispose();
});

story("without a target, a sentence with a button is shown", async () => {
  await runCommand("workbench.action.closeAllEditors");
  await runCommand("greenloop.here.refine");
  assert.match(await askWindow("see", "put the cursor in a test"), /Open File/);
  await runCommand("notifications.clearAll");
});

test("a result that waits for approval is shown as a diff, and applied by a button", async () => {
  const files = failingProject("asked");
  prepareProject([modelAnswer(functionSource("asked", "x * 2"))], files);
  const module = (await openFile("asked.py")).document;
  await openAtLine("test_asked.py", 4);
  await updateServerSetting("apply", "ask");
  try {
    await runCommand("greenloop.here.refine");
    const diff = await until("diff", () => {
      const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return input instanceof vscode.TabInputTextDiff && input.modified.scheme === "greenloop-attempt" ? input : undefined;
    });
    assert.equal((await vscode.workspace.openTextDocument(diff.modified)).getText(), functionSource("asked", "x * 2"));
    assert.equal(module.getText(), files["asked.py"]);
    await askWindow("press", "Apply its changes?", "Apply");
    await waitForText(module, functionSource("asked", "x * 2"));
    await until("closed diff", () => !vscode.window.tabGroups.all.flatMap((group) => group.tabs).some((tab) => tab.input instanceof vscode.TabInputTextDiff));
    assert.deepEqual(diagnostics("test_asked.py"), []);
  } finally {
    await updateServerSetting("apply", undefined);
  }
});

