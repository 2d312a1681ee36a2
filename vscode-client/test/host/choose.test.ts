// Choosing a model or a preset, API keys in the secret storage, and settings that a repository must not set.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Choices } from "../../src/protocol";
import { pythonSetting } from "../../src/python";
import { failingProject, functionSource, modelAnswer } from "../support/projects";
import { startProvider } from "../support/provider";
import { until } from "../support/until";
import { applyCodeAction, askWindow, extensionApi, openFile, prepareProject, projectFolder, story, test, updateServerSetting, uri, waitForNoDiagnostics, waitForProblem, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";
const SECRET = "sk-tests-0123456789";

function userSetting(key: string): unknown {
  return vscode.workspace.getConfiguration("greenloop").inspect(key)?.globalValue;
}

async function requestChoices(): Promise<Choices | undefined> {
  const { host } = await extensionApi();
  return host.client()?.sendRequest<Choices>("greenloop/choices", { uri: uri("pyproject.toml").toString() });
}

/** The settings that the server receives. */
async function settingsForServer(): Promise<Record<string, unknown>> {
  const { host } = await extensionApi();
  const answer = host.middleware.workspace?.configuration;
  const params = { items: [{ section: "greenloop", scopeUri: uri("").toString() }] };
  const token = new vscode.CancellationTokenSource().token;
  const replies = await answer?.(params, token, () => []);
  return (Array.isArray(replies) ? replies[0] : undefined) as Record<string, unknown>;
}

async function storedKey(name: string): Promise<string | undefined> {
  return (await extensionApi()).host.context.secrets.get(`greenloop.key.${name}`);
}

/** Restores these settings after `work`. */
async function restoringSettings(keys: readonly string[], work: () => Promise<void>): Promise<void> {
  const before = keys.map((key) => [key, userSetting(key)] as const);
  try {
    await work();
  } finally {
    for (const [key, value] of before) if (userSetting(key) !== value) await updateServerSetting(key, value);
  }
}

story("a repository can set the preset, but not the model, sandbox or Python", async () => {
  const { host } = await extensionApi();
  const model = userSetting("model");
  const folder = path.join(projectFolder(), ".vscode");
  const python = pythonSetting();
  const repositorySettings = [
    { "greenloop.model": "openai/theirs", "greenloop.drafter.model": "openai/theirs", "greenloop.sandbox.network": true, "greenloop.preset": "self-debug" },
    // Older versions of VS Code check the scopes of whole keys only.
    { "greenloop": { model: "openai/theirs", drafter: { model: "openai/theirs" }, python: "/theirs" }, "greenloop.sandbox": { network: true, env: ["THEIRS"] }, "greenloop.preset": "self-debug" },
  ];
  for (const settings of repositorySettings) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
    try {
      await until("the repository's preset", async () => (await requestChoices())?.preset === "self-debug", () => host.serverStatus);
      assert.equal((await requestChoices())?.model, model);
      const sent = await settingsForServer();
      assert.deepEqual([sent["preset"], sent["model"]], ["self-debug", model]);
      const theirs = [sent["sandbox.network"], sent["sandbox.env"], sent["drafter.model"]];
      assert.deepEqual(theirs, [undefined, undefined, undefined], JSON.stringify(sent));
      assert.equal(pythonSetting(), python);
    } finally {
      fs.rmSync(folder, { recursive: true });
      await until("the project's own preset", async () => (await requestChoices())?.preset === "plain");
    }
  }
});

test("choosing a preset and the automatic model writes the user's settings", async () => {
  await restoringSettings(["preset", "model"], async () => {
    const preset = vscode.commands.executeCommand("greenloop.choose.preset");
    await askWindow("answer", "best-of-n");
    await preset;
    assert.equal(userSetting("preset"), "best-of-n");
    await until("the server's preset", async () => (await requestChoices())?.preset === "best-of-n");
    const model = vscode.commands.executeCommand("greenloop.choose.model");
    await askWindow("answer", "Automatic");
    await model;
    assert.equal(userSetting("model"), undefined);
    await until("the server's model", async () => (await requestChoices())?.model === "");
  });
});

story("a key is asked for once, stored, passed to the provider, and in no setting or log", async () => {
  const provider = await startProvider(SECRET, modelAnswer(functionSource("keyed", "x * 2")));
  prepareProject([], failingProject("keyed"));
  const module = (await openFile("keyed.py")).document;
  await openFile("test_keyed.py");
  try {
    await restoringSettings(["api.base", "api.key", "model"], async () => {
      await updateServerSetting("api.base", provider.base);
      await updateServerSetting("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await updateServerSetting("model", "openai/keyed");
      await applyCodeAction("test_keyed.py", 4, `${REFINE}test_keyed`);
      await askWindow("press", "has no API key for OpenAI", "Enter Key");
      await askWindow("answer", SECRET);
      await waitForText(module, functionSource("keyed", "x * 2"));
    });
  } finally {
    provider.close();
  }
  assert.deepEqual(provider.keys, [`Bearer ${SECRET}`]);
  assert.equal(await storedKey("openai"), SECRET);
  const { host } = await extensionApi();
  const folders = [host.context.globalStorageUri.fsPath, path.dirname(host.context.logUri.fsPath), projectFolder()];
  for (const folder of folders.filter((each) => fs.existsSync(each))) {
    const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    for (const file of files) {
      const text = fs.readFileSync(path.join(file.parentPath, file.name), "latin1");
      assert.ok(!text.includes(SECRET), `the key is in ${file.name}`);
    }
  }
  await waitForNoDiagnostics("test_keyed.py");
});

test("a rejected key is reported in one sentence, with a button to set another", async () => {
  const { host } = await extensionApi();
  const provider = await startProvider("another", "");
  prepareProject([], failingProject("wrong"));
  await openFile("wrong.py");
  await openFile("test_wrong.py");
  const from = host.problems.history.length;
  try {
    await restoringSettings(["api.base", "api.key", "model"], async () => {
      await updateServerSetting("api.base", provider.base);
      await updateServerSetting("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await updateServerSetting("model", "openai/wrong");
      await applyCodeAction("test_wrong.py", 4, `${REFINE}test_wrong`);
      const problem = await waitForProblem("model", from);
      assert.match(problem.message, /did not accept the key/);
      assert.ok(!problem.message.includes(SECRET));
      assert.equal(problem.buttons[0]?.command, "greenloop.keys.set");
    });
  } finally {
    provider.close();
  }
  await vscode.commands.executeCommand("greenloop.discard");
  await waitForNoDiagnostics("test_wrong.py");
});

test("a run that waits for a key uses one that is set by the command", async () => {
  const provider = await startProvider("ck-1", modelAnswer(functionSource("waits", "x * 2")));
  prepareProject([], failingProject("waits"));
  const module = (await openFile("waits.py")).document;
  await openFile("test_waits.py");
  try {
    await restoringSettings(["api.base", "api.key", "model"], async () => {
      await updateServerSetting("api.base", provider.base);
      await updateServerSetting("api.key", "GREENLOOP_TESTS_NO_SUCH_KEY");
      await updateServerSetting("model", "deepseek/waits");
      await applyCodeAction("test_waits.py", 4, `${REFINE}test_waits`);
      await askWindow("see", "has no API key for DeepSeek");
      const set = vscode.commands.executeCommand("greenloop.keys.set");
      await askWindow("answer", "DeepSeek");
      await askWindow("answer", "ck-1");
      await set;
      await waitForText(module, functionSource("waits", "x * 2"));
    });
  } finally {
    provider.close();
    const forget = vscode.commands.executeCommand("greenloop.keys.forget");
    await askWindow("answer", "DeepSeek");
    await forget;
  }
  await waitForNoDiagnostics("test_waits.py");
});

test("commands set and remove a key", async () => {
  const set = vscode.commands.executeCommand("greenloop.keys.set");
  await askWindow("answer", "Mistral");
  await askWindow("answer", " mk-1 ");
  await set;
  assert.equal(await storedKey("mistral"), "mk-1");
  for (const [provider, label] of [["mistral", "Mistral"], ["openai", "OpenAI"]] as const) {
    const forget = vscode.commands.executeCommand("greenloop.keys.forget");
    await askWindow("answer", label);
    await forget;
    assert.equal(await storedKey(provider), undefined);
  }
  await vscode.commands.executeCommand("greenloop.keys.forget");
  assert.match(await askWindow("see", "has no stored API keys"), /greenloop has no stored API keys/);
});
