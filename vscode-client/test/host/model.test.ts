// The editor's own language model, registered by the test extension.

import * as assert from "node:assert/strict";
import { Readable } from "node:stream";

import * as vscode from "vscode";

import { readResponse, toChatMessages, type ToolApi, toolApi } from "../../src/chatMessages";
import { complete, describeError, describeModel } from "../../src/features/editorModel";
import type { CompleteParams, CompleteResult } from "../../src/protocol";
import { failingProject, functionSource, modelAnswer } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, extensionApi, openFile, prepareProject, story, test, updateServerSetting, waitForNoDiagnostics, waitForProblem, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";

/** The API of the test extension: the answers of its model, and the requests that it received. */
interface Fake {
  answers: (string | Error | object[])[];
  requests: { messages: string[]; parts: object[][]; options: { modelOptions?: object; tools?: object[] }; cancelled: boolean }[];
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

const CONVERSATION: CompleteParams = {
  id: 1,
  messages: [
    { role: "system", content: "You repair." },
    { role: "assistant", content: "Let me look.", toolCalls: [{ id: "c1", name: "read", arguments: '{"path": "m.py"}' }, { id: "c2", name: "find", arguments: "{broken" }] },
    { role: "tool", content: "x + 1", toolCallId: "c1" },
    { role: "tool", content: "", toolCallId: "c2" },
    { role: "assistant", content: "", toolCalls: [{ id: "c3", name: "find", arguments: "[]" }] },
    { role: "tool", content: "m.py", toolCallId: "c3" },
  ],
  tools: [{ name: "read", description: "Reads a file.", parameters: { type: "object", properties: {} } }],
  maxTokens: 100,
  temperature: 0.5,
};

/** The answer of the fake model, and the pieces that are sent while it is written. */
async function ask(params: CompleteParams): Promise<CompleteResult & { pieces: string[] }> {
  const [model] = await vscode.lm.selectChatModels({ vendor: "fake" });
  assert.ok(model);
  const pieces: string[] = [];
  const onPiece = (text: string): Promise<void> => Promise.resolve(void pieces.push(text));
  return { ...(await complete(model, params, new vscode.CancellationTokenSource().token, onPiece)), pieces };
}

function api(): ToolApi {
  const classes = toolApi();
  assert.ok(classes);
  return classes;
}

test("a conversation with tools reaches the editor's own model, and its calls come back", async () => {
  const { LanguageModelTextPart: Text, LanguageModelToolCallPart: Call, LanguageModelToolResultPart: Result } = api();
  const { LanguageModelDataPart: Data } = vscode as unknown as { LanguageModelDataPart: { text(value: string, type: string): object } };
  const fake = await fakeModel();
  fake.answers = [[new Text("I "), Data.text("not shown", "text/plain"), new Text("read."), new Call("c4", "read", { path: "n.py" }), new Call("c5", "list", {})]];
  const answer = await ask(CONVERSATION);
  assert.deepEqual(answer, {
    text: "I read.",
    toolCalls: [{ id: "c4", name: "read", arguments: '{"path":"n.py"}' }, { id: "c5", name: "list", arguments: "{}" }],
    model: "fake/one",
    promptTokens: 3 * 10,
    completionTokens: 3 * 5,
    pieces: ["I ", "", "read.", "", ""],
  });
  const [request] = fake.requests;
  assert.deepEqual(request?.options.tools, [{ name: "read", description: "Reads a file.", inputSchema: { type: "object", properties: {} } }]);
  assert.deepEqual(request.options.modelOptions, { temperature: 0.5, max_tokens: 100 });
  assert.deepEqual(request.parts.map((parts) => parts.map(describePart)), [
    ["You repair."],
    ["Let me look.", ["c1", "read", { path: "m.py" }], ["c2", "find", {}]],
    [["c1", "x + 1"], ["c2", ""]],
    [["c3", "find", {}]],
    [["c3", "m.py"]],
  ]);

  function describePart(part: object): unknown {
    if (part instanceof Text) return part.value;
    if (part instanceof Call) return [part.callId, part.name, part.input];
    assert.ok(part instanceof Result);
    const { callId, content } = part as { callId: string; content: { value: string }[] };
    return [callId, content.map((each) => each.value).join("")];
  }
});

test("an empty answer is asked for again without model options, but with tools; a call is not empty", async () => {
  const { LanguageModelToolCallPart: Call } = api();
  const fake = await fakeModel();
  fake.answers = [[], [new Call("c4", "read", {})], "not asked for"];
  const answer = await ask(CONVERSATION);
  assert.deepEqual([answer.text, answer.toolCalls.length], ["", 1]);
  assert.deepEqual(fake.requests.map(({ options }) => [options.modelOptions, options.tools?.length]), [[{ temperature: 0.5, max_tokens: 100 }, 1], [{}, 1]]);
});

test("a model takes tools if the editor has the classes and the model does not decline them", async () => {
  await fakeModel();
  const [model] = await vscode.lm.selectChatModels({ vendor: "fake" });
  assert.ok(model);
  const describe = (fields: object): object => describeModel(fields as vscode.LanguageModelChat, toolApi());
  assert.deepEqual(describeModel(model, toolApi()), { maxInputTokens: 4000, tools: false });
  assert.deepEqual(describe({ maxInputTokens: 9, capabilities: { supportsToolCalling: true } }), { maxInputTokens: 9, tools: true });
  assert.deepEqual(describe({}), { maxInputTokens: null, tools: true });
  assert.deepEqual(describeModel({ maxInputTokens: 9 } as vscode.LanguageModelChat, undefined), { maxInputTokens: 9, tools: false });
});

test("an editor without the classes for tools gets and gives texts only", async () => {
  const messages = toChatMessages(CONVERSATION.messages, undefined);
  const { User, Assistant } = vscode.LanguageModelChatMessageRole;
  assert.deepEqual(messages.map(({ role }) => role), [User, Assistant, User, User, Assistant, User]);
  const answer = { text: "", toolCalls: [] };
  const pieces: string[] = [];
  const response = { text: Readable.from(["x ", "* 2"]) as AsyncIterable<string> };
  await readResponse(response, undefined, answer, (text) => Promise.resolve(void pieces.push(text)));
  assert.deepEqual([answer, pieces], [{ text: "x * 2", toolCalls: [] }, ["x ", "* 2"]]);
});

test("a prompt that is too long is called so", () => {
  const errors = ["Message exceeds token limit.", "Request Failed: 400 prompt token count of 65446 exceeds the limit of 64000", "prompt is too long: 210194 tokens > 200000 maximum"];
  for (const each of errors) assert.match(describeError(new Error(each), "Fake one"), /^The prompt is too long for Fake one: .*[^.]\.$/);
  assert.match(describeError(new Error("The limit is unknown."), "Fake one"), /^Fake one did not answer: /);
  return Promise.resolve();
});
