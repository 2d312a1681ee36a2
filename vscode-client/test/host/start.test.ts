// Starting and stopping the server: activation, unsuitable interpreters, restarts, settings.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Api } from "../../src/host";
import type { Choices } from "../../src/protocol";
import { descendants, isAlive, languageServers } from "../support/processes";
import { failingProject, functionSource, modelAnswer, waitingFunction } from "../support/projects";
import { until } from "../support/until";
import { applyCodeAction, askWindow, attemptRows, createGate, diagnostics, extensionApi, openFile, prepareProject, projectFolder, story, test, updateSetting, waitForDiagnostic, waitForNoDiagnostics, waitForProblem, waitForText } from "./helpers";

const REFINE = "Refine until tests pass: ";

/** The process id of this extension host's language server. */
function serverPid(): number | undefined {
  return languageServers(process.pid)[0]?.pid;
}

async function waitUntilReady(): Promise<void> {
  const { host } = await extensionApi();
  await until("a server that is ready", () => host.serverStatus.state === "ready" && serverPid() !== undefined, () => host.serverStatus);
}

story("the packaged extension starts one server and registers every command of its package.json", async () => {
  const extension = vscode.extensions.getExtension<Api>("greenloop.greenloop");
  assert.ok(extension, "the packaged extension is not installed");
  assert.match(extension.extensionPath, /extensions\/greenloop\.greenloop-[\d.]+/);
  await extensionApi();
  await waitUntilReady();
  assert.equal(languageServers(process.pid).length, 1);
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const known = await vscode.commands.getCommands(true);
  assert.deepEqual(contributes.commands.map((each) => each.command).filter((each) => !known.includes(each)), []);
  const { capabilities } = extension.packageJSON as { capabilities: { untrustedWorkspaces: { supported: boolean } } };
  assert.equal(capabilities.untrustedWorkspaces.supported, false);
});

test("explicit settings reach the server at once; others keep the project's values", async () => {
  const { host } = await extensionApi();
  prepareProject([modelAnswer(functionSource("few", "x * 3")), modelAnswer(functionSource("few", "x * 4")), modelAnswer(functionSource("few", "x * 2"))], failingProject("few"));
  await openFile("few.py");
  await openFile("test_few.py");
  const preset = async (): Promise<string> => {
    const reply = await host.client()?.sendRequest<Choices>("greenloop/choices", { uri: vscode.Uri.file(path.join(projectFolder(), "few.py")).toString() });
    return reply?.preset ?? "";
  };
  assert.equal(await preset(), "plain");
  await updateSetting("preset", "self-debug");
  await until("the new preset", async () => (await preset()) === "self-debug");
  await updateSetting("preset", "plain");
  await until("the old preset", async () => (await preset()) === "plain");
  // `attempts` is not set in the editor, so the default of package.json must not override the project's own value.
  fs.writeFileSync(path.join(projectFolder(), "pyproject.toml"), "[tool.greenloop]\nattempts = 2\n");
  try {
    await applyCodeAction("test_few.py", 4, `${REFINE}test_few`);
    const fileDiagnostics = (): vscode.Diagnostic[] => diagnostics("test_few.py");
    const end = await until("an unsolved run", () => fileDiagnostics().find((each) => each.code === "unsolved"), fileDiagnostics);
    assert.match(end.message, /after 2 attempts: the attempt limit was reached/);
  } finally {
    fs.writeFileSync(path.join(projectFolder(), "pyproject.toml"), "");
  }
  await vscode.commands.executeCommand("greenloop.discard");
  await waitForNoDiagnostics("test_few.py");
});

test("a killed server is restarted, and none of its processes keeps running", async () => {
  await waitUntilReady();
  const old = serverPid() ?? 0;
  const started = descendants(old).map((each) => each.pid);
  prepareProject([modelAnswer(functionSource("killed", "x * 2"))], failingProject("killed"));
  const module = (await openFile("killed.py")).document;
  await openFile("test_killed.py");
  process.kill(old, "SIGKILL");
  await until("another server", () => serverPid() !== undefined && serverPid() !== old);
  await waitUntilReady();
  await until("exit of all processes of the old server", () => !started.some(isAlive));
  await applyCodeAction("test_killed.py", 4, `${REFINE}test_killed`);
  await waitForText(module, functionSource("killed", "x * 2"));
});

story("a server that crashes during a run is restarted, and the interrupted run is named", async () => {
  await waitUntilReady();
  const { host } = await extensionApi();
  const from = host.problems.history.length;
  prepareProject([modelAnswer(waitingFunction("interrupted", "x * 2", createGate("interrupted")))], failingProject("interrupted"));
  await openFile("interrupted.py");
  await openFile("test_interrupted.py");
  await applyCodeAction("test_interrupted.py", 4, `${REFINE}test_interrupted`);
  await waitForDiagnostic("test_interrupted.py", "Refining test_interrupted");
  await until("the run in the view", async () => (await attemptRows()).some((row) => row.includes("test_interrupted")));
  process.kill(serverPid() ?? 0, "SIGKILL");
  const problem = await waitForProblem("lost", from);
  assert.match(problem.message, /Interrupted: test_interrupted\./);
  await until("another server", () => serverPid() !== undefined);
  await waitUntilReady();
  await vscode.commands.executeCommand("greenloop.discard");
  await waitForNoDiagnostics("test_interrupted.py");
});

test("a setting that names no interpreter is reported once, with a button that fixes it", async () => {
  const { host } = await extensionApi();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python");
  const from = host.problems.history.length;
  await updateSetting("python", path.join(projectFolder(), "no-such-python"));
  try {
    const problem = await waitForProblem("interpreter", from);
    assert.match(problem.message, /no-such-python \(setting greenloop\.python\) does not run as a Python interpreter\./);
    const notification = await askWindow("see", "does not run as a Python interpreter");
    assert.match(notification, /Choose Interpreter/);
    assert.equal(host.serverStatus.state, "error");
    assert.equal(serverPid(), undefined);
    await askWindow("press", "does not run as a Python interpreter", "Choose Interpreter");
    await askWindow("see-pick", "greenloop: Choose Interpreter");
    // Another command shows the same problem with the same buttons.
    const before = host.problems.history.length;
    await vscode.commands.executeCommand("greenloop.choose.model");
    assert.deepEqual(host.problems.history.slice(before), [problem]);
  } finally {
    await updateSetting("python", python);
  }
  await waitUntilReady();
});

test("a Python that is too old is reported with its version", async () => {
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python");
  const { host } = await extensionApi();
  const from = host.problems.history.length;
  const old = path.join(projectFolder(), "python3.9");
  fs.writeFileSync(old, `#!/bin/sh\necho '{"path": "", "version": [3, 9, 2], "greenloop": null}'\n`, { mode: 0o755 });
  await updateSetting("python", old);
  try {
    assert.match((await waitForProblem("interpreter", from)).message, /python3\.9 \(setting greenloop\.python\) is Python 3\.9\.2/);
  } finally {
    await updateSetting("python", python);
  }
  await waitUntilReady();
});

story("an old greenloop is reported with its version, and an installation is offered", async () => {
  const { host } = await extensionApi();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python") ?? "";
  const from = host.problems.history.length;
  // A Python with another greenloop, found first because of PYTHONPATH.
  const old = path.join(projectFolder(), "old");
  fs.mkdirSync(path.join(old, "lib", "greenloop"), { recursive: true });
  fs.writeFileSync(path.join(old, "lib", "greenloop", "__init__.py"), '__version__ = "0.0.3"\n');
  fs.writeFileSync(path.join(old, "python"), `#!/bin/sh\nPYTHONPATH='${path.join(old, "lib")}' exec '${python}' "$@"\n`, { mode: 0o755 });
  await updateSetting("python", path.join(old, "python"));
  try {
    const problem = await waitForProblem("old", from);
    assert.match(problem.message, /greenloop 0\.0\.3 \(.*\) is too old for this extension/);
    assert.deepEqual(problem.buttons.map((each) => each.command), ["greenloop.run.install", "greenloop.run.interpreter"]);
    assert.match(await askWindow("see", "is too old for this extension"), /Install greenloop/);
    assert.equal(host.serverStatus.state, "error");
  } finally {
    await updateSetting("python", python);
  }
  await waitUntilReady();
});

test("a server that keeps crashing is not restarted forever", async () => {
  const { host } = await extensionApi();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python") ?? "";
  const from = host.problems.history.length;
  const file = path.join(projectFolder(), "crashing");
  fs.writeFileSync(file, `#!/bin/sh\ncase "$*" in *serve*) echo 'the disk is on fire' >&2; exit 1;; esac\nexec '${python}' "$@"\n`, { mode: 0o755 });
  await updateSetting("python", file);
  try {
    const problem = await until("message", () => host.problems.history.slice(from).at(-1));
    assert.match(problem.message, /the disk is on fire/);
    assert.ok(problem.buttons.some((each) => each.command === "greenloop.run.restart"), JSON.stringify(problem));
    await askWindow("see", "the disk is on fire");
  } finally {
    await updateSetting("python", python);
  }
  await waitUntilReady();
  assert.equal(host.problems.history.slice(from).length, 1, JSON.stringify(host.problems.history.slice(from)));
});
