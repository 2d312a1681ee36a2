// Choosing a model or a preset, keys in the secret storage, and what a repository cannot choose.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Choices } from "../../src/protocol";
import { setting } from "../../src/python";
import { provider } from "../support/provider";
import { answer, fn, red } from "../support/projects";
import { until } from "../support/until";
import { act, api, ask, becomes, isClear, open, put, root, tell, test, told, uri } from "./kit";

const REFINE = "Refine until tests pass: ";
const SECRET = "sk-tests-0123456789";

function own(key: string): unknown {
  return vscode.workspace.getConfiguration("greenloop").inspect(key)?.globalValue;
}

async function choices(): Promise<Choices | undefined> {
  const { host } = await api();
  return host.client()?.sendRequest<Choices>("greenloop/choices", { uri: uri("pyproject.toml").toString() });
}

/** What the server is told of these settings. */
async function given(): Promise<Record<string, unknown>> {
  const { host } = await api();
  const answer = host.middleware.workspace?.configuration;
  const params = { items: [{ section: "greenloop", scopeUri: uri("").toString() }] };
  const token = new vscode.CancellationTokenSource().token;
  const replies = await answer?.(params, token, () => []);
  return (Array.isArray(replies) ? replies[0] : undefined) as Record<string, unknown>;
}

async function kept(name: string): Promise<string | undefined> {
  return (await api()).host.context.secrets.get(`greenloop.key.${name}`);
}

/** What is set for these keys afterwards is what was set before. */
async function keeping(keys: readonly string[], work: () => Promise<void>): Promise<void> {
  const before = keys.map((key) => [key, own(key)] as const);
  try {
    await work();
  } finally {
    for (const [key, value] of before) if (own(key) !== value) await tell(key, value);
  }
}

test("a repository cannot choose the model, and may set a limit", async () => {
  const { host } = await api();
  const model = own("model");
  const folder = path.join(root(), ".vscode");
  const python = setting();
  const tries = [
    { "greenloop.model": "openai/theirs", "greenloop.sandbox.network": true, "greenloop.preset": "self-debug" },
    // Older VS Codes look at the scopes of whole keys only.
    { "greenloop": { model: "openai/theirs", python: "/theirs" }, "greenloop.sandbox": { network: true, env: ["THEIRS"] }, "greenloop.preset": "self-debug" },
  ];
  for (const settings of tries) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
    try {
      await until("the repository's preset", async () => (await choices())?.preset === "self-debug", () => host.standing);
      assert.equal((await choices())?.model, model);
      const told = await given();
      assert.deepEqual([told["preset"], told["model"]], ["self-debug", model]);
      assert.deepEqual([told["sandbox.network"], told["sandbox.env"]], [undefined, undefined], JSON.stringify(told));
      assert.equal(setting(), python);
    } finally {
      fs.rmSync(folder, { recursive: true });
      await until("the end of it", async () => (await choices())?.preset === "plain");
    }
  }
});

test("choosing a preset and the automatic model writes the user's settings", async () => {
  await keeping(["preset", "model"], async () => {
    const preset = vscode.commands.executeCommand("greenloop.choose.preset");
    await ask("answer", "best-of-n");
    await preset;
    assert.equal(own("preset"), "best-of-n");
    await until("the server's preset", async () => (await choices())?.preset === "best-of-n");
    const model = vscode.commands.executeCommand("greenloop.choose.model");
    await ask("answer", "Automatic");
    await model;
    assert.equal(own("model"), undefined);
    await until("the server's model", async () => (await choices())?.model === "");
  });
});

test("a key is asked for once, kept, handed over, and is in no setting and no log", async () => {
  const there = await provider(SECRET, answer(fn("keyed", "x * 2")));
  put([], red("keyed"));
  const module = (await open("keyed.py")).document;
  await open("test_keyed.py");
  try {
    await keeping(["api.base", "api.key", "model"], async () => {
      await tell("api.base", there.base);
      await tell("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await tell("model", "openai/keyed");
      await act("test_keyed.py", 4, `${REFINE}test_keyed`);
      await ask("press", "has no key of OpenAI", "Enter Key");
      await ask("answer", SECRET);
      await becomes(module, fn("keyed", "x * 2"));
    });
  } finally {
    there.close();
  }
  assert.deepEqual(there.keys, [`Bearer ${SECRET}`]);
  assert.equal(await kept("openai"), SECRET);
  const { host } = await api();
  const places = [host.context.globalStorageUri.fsPath, path.dirname(host.context.logUri.fsPath), root()];
  for (const place of places.filter((each) => fs.existsSync(each))) {
    const files = fs.readdirSync(place, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    for (const file of files) {
      const text = fs.readFileSync(path.join(file.parentPath, file.name), "latin1");
      assert.ok(!text.includes(SECRET), `the key is in ${file.name}`);
    }
  }
  await isClear("test_keyed.py");
});

test("a key that is refused: one sentence, with a button that sets another", async () => {
  const { host } = await api();
  const there = await provider("another", "");
  put([], red("wrong"));
  await open("wrong.py");
  await open("test_wrong.py");
  const from = host.problems.told.length;
  try {
    await keeping(["api.base", "api.key", "model"], async () => {
      await tell("api.base", there.base);
      await tell("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await tell("model", "openai/wrong");
      await act("test_wrong.py", 4, `${REFINE}test_wrong`);
      const problem = await told("model", from);
      assert.match(problem.message, /refused the key/);
      assert.ok(!problem.message.includes(SECRET));
      assert.equal(problem.buttons[0]?.command, "greenloop.keys.set");
    });
  } finally {
    there.close();
  }
  await vscode.commands.executeCommand("greenloop.discard");
  await isClear("test_wrong.py");
});

test("a run that waits for a key takes one that is set by the command", async () => {
  const there = await provider("ck-1", answer(fn("waits", "x * 2")));
  put([], red("waits"));
  const module = (await open("waits.py")).document;
  await open("test_waits.py");
  try {
    await keeping(["api.base", "api.key", "model"], async () => {
      await tell("api.base", there.base);
      await tell("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await tell("model", "deepseek/waits");
      await act("test_waits.py", 4, `${REFINE}test_waits`);
      await ask("see", "has no key of DeepSeek");
      const set = vscode.commands.executeCommand("greenloop.keys.set");
      await ask("answer", "DeepSeek");
      await ask("answer", "ck-1");
      await set;
      await becomes(module, fn("waits", "x * 2"));
    });
  } finally {
    there.close();
    const forget = vscode.commands.executeCommand("greenloop.keys.forget");
    await ask("answer", "DeepSeek");
    await forget;
  }
  await isClear("test_waits.py");
});

test("a key is set and forgotten by commands", async () => {
  const set = vscode.commands.executeCommand("greenloop.keys.set");
  await ask("answer", "Mistral");
  await ask("answer", " mk-1 ");
  await set;
  assert.equal(await kept("mistral"), "mk-1");
  for (const [provider, words] of [["mistral", "Mistral"], ["openai", "OpenAI"]] as const) {
    const forget = vscode.commands.executeCommand("greenloop.keys.forget");
    await ask("answer", words);
    await forget;
    assert.equal(await kept(provider), undefined);
  }
  await vscode.commands.executeCommand("greenloop.keys.forget");
  assert.match(await ask("see", "greenloop keeps no key"), /keeps no key/);
});
