// The editor's own language model, registered by the test extension.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { failingProject, functionSource, modelAnswer } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, extensionApi, openFile, prepareProject, story, test, updateServerSetting, waitForNoDiagnostics, waitForProblem, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";

/** The API of the test extension: the answers of its model, and the requests that it received. */
interface Fake {
  answers: (string | Error)[];
  requests: { messages: string[]; cancelled: boolean }[];
}

async function fakeModel(): Promise<Fake> {
  const extension = vscode.extensions.getExtension<Fake>("greenloop.greenloop-tests");
  if (!extension) throw new Error("the test extension is not installed");
  const fake = await extension.activate();
  fake.requests.length = 0;
  await until("the editor's model", async () => (await vscode.lm.selectChatModels()).length > 0);
  return fake;
}

async function withModel(name: string, work: () => Promise<void>): Promise<void> {
  const before = vscode.workspace.getConfiguration("greenloop").get<string>("model");
  await updateServerSetting("model", name);
  try {
    await work();
  } finally {
    await updateServerSetting("model", before);
  }
}

story("the editor's own model streams answers without a key", async () => {
  const model = await fakeModel();
  model.answers = [modelAnswer(functionSource("own", "x * 3")), modelAnswer(functionSource("own", "x * 2"))];
  prepareProject([], failingProject("own"));
  const module = (await openFile("own.py")).document;
  await openFile("test_own.py");
  await withModel("editor", async () => {
    await applyCodeAction("test_own.py", 4, `${REFINE}test_own`);
    await waitForText(module, functionSource("own", "x * 2"));
  });
  assert.equal(model.requests.length, 2);
  assert.match(model.requests[0]?.messages.join("\n") ?? "", /def own\(x\):/);
  assert.match(model.requests[1]?.messages.join("\n") ?? "", /15 == 10/);
});

test("a cancelled run cancels its request to the editor's own model", async () => {
  const model = await fakeModel();
  model.answers = [];
  prepareProject([], failingProject("asking"));
  await openFile("asking.py");
  await openFile("test_asking.py");
  await withModel("editor", async () => {
    await applyCodeAction("test_asking.py", 4, `${REFINE}test_asking`);
    await until("a request", () => model.requests.length === 1);
    await vscode.commands.executeCommand("greenloop.here.cancel");
    await until("its cancellation", () => model.requests[0]?.cancelled);
  });
  assert.equal(model.requests.length, 1);
  await waitForNoDiagnostics("test_asking.py");
});

test("an error of the editor's model is reported in one sentence, with a button", async () => {
  const model = await fakeModel();
  const { host } = await extensionApi();
  model.answers = [vscode.LanguageModelError.Blocked("quota exceeded")];
  prepareProject([], failingProject("blocked"));
  await openFile("blocked.py");
  await openFile("test_blocked.py");
  const from = host.problems.history.length;
  await withModel("editor", async () => {
    await applyCodeAction("test_blocked.py", 4, `${REFINE}test_blocked`);
    const problem = await waitForProblem("model", from);
    assert.match(problem.message, /does not accept requests at the moment/);
    assert.ok(problem.buttons.some((each) => each.command === "greenloop.choose.model"));
  });
  await vscode.commands.executeCommand("greenloop.discard");
  await waitForNoDiagnostics("test_blocked.py");
});
