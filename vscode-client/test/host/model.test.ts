// The editor's own model, by a provider that the tests' own extension registers; and keys of other providers.

import * as assert from "node:assert/strict";

import * as vscode from "vscode";

import { answer, fn, red } from "../support/projects";
import { until } from "../support/until";
import { act, api, becomes, isClear, open, put, tell, test, told } from "./kit";

const REFINE = "Refine until tests pass: ";

/** What the tests' own extension gives: the answers of its model, and what it was asked. */
interface Fake {
  answers: (string | Error)[];
  asked: { messages: string[]; cancelled: boolean }[];
}

async function fake(): Promise<Fake> {
  const extension = vscode.extensions.getExtension<Fake>("greenloop.greenloop-tests");
  if (!extension) throw new Error("the tests' own extension is not there");
  const found = await extension.activate();
  found.asked.length = 0;
  await until("the editor's model", async () => (await vscode.lm.selectChatModels()).length > 0);
  return found;
}

async function withModel(name: string, work: () => Promise<void>): Promise<void> {
  const before = vscode.workspace.getConfiguration("greenloop").get<string>("model");
  await tell("model", name);
  try {
    await work();
  } finally {
    await tell("model", before);
  }
}

test("the editor's own model answers, streamed, without any key", async () => {
  const model = await fake();
  model.answers = [answer(fn("own", "x * 3")), answer(fn("own", "x * 2"))];
  put([], red("own"));
  const module = (await open("own.py")).document;
  await open("test_own.py");
  await withModel("editor", async () => {
    await act("test_own.py", 4, `${REFINE}test_own`);
    await becomes(module, fn("own", "x * 2"));
  });
  assert.equal(model.asked.length, 2);
  assert.match(model.asked[0]?.messages.join("\n") ?? "", /def own\(x\):/);
  assert.match(model.asked[1]?.messages.join("\n") ?? "", /15 == 10/);
});

test("a run that is cancelled no longer asks the editor's own model", async () => {
  const model = await fake();
  model.answers = [];
  put([], red("asking"));
  await open("asking.py");
  await open("test_asking.py");
  await withModel("editor", async () => {
    await act("test_asking.py", 4, `${REFINE}test_asking`);
    await until("a question", () => model.asked.length === 1);
    await vscode.commands.executeCommand("greenloop.here.cancel");
    await until("its end", () => model.asked[0]?.cancelled);
  });
  assert.equal(model.asked.length, 1);
  await isClear("test_asking.py");
});

test("an editor's model that refuses: one sentence, with a button", async () => {
  const model = await fake();
  const { host } = await api();
  model.answers = [vscode.LanguageModelError.Blocked("quota exceeded")];
  put([], red("blocked"));
  await open("blocked.py");
  await open("test_blocked.py");
  const from = host.problems.told.length;
  await withModel("editor", async () => {
    await act("test_blocked.py", 4, `${REFINE}test_blocked`);
    const problem = await told("model", from);
    assert.match(problem.message, /takes no more requests for now/);
    assert.ok(problem.buttons.some((each) => each.command === "greenloop.choose.model"));
  });
  await vscode.commands.executeCommand("greenloop.discard");
  await isClear("test_blocked.py");
});
