// Start and end of the server: activation, interpreters that do not fit, restarts, settings.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Api } from "../../src/host";
import type { Choices } from "../../src/protocol";
import { answer, fn, red, waiting } from "../support/projects";
import { alive, beneath, servers } from "../support/processes";
import { until } from "../support/until";
import { act, api, ask, becomes, diagnostics, gate, isClear, open, put, root, rows, set, shows, test, told } from "./kit";

const REFINE = "Refine until tests pass: ";

/** The language server of this extension host. */
function server(): number | undefined {
  return servers(process.pid)[0]?.pid;
}

async function ready(): Promise<void> {
  const { host } = await api();
  await until("a server that is ready", () => host.standing.state === "ready" && server() !== undefined, () => host.standing);
}

test("activation: the packaged extension starts one server and has every command of its package.json", async () => {
  const extension = vscode.extensions.getExtension<Api>("greenloop.greenloop");
  assert.ok(extension, "the packaged extension is not installed");
  assert.match(extension.extensionPath, /extensions\/greenloop\.greenloop-[\d.]+/);
  await api();
  await ready();
  assert.equal(servers(process.pid).length, 1);
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const known = await vscode.commands.getCommands(true);
  assert.deepEqual(contributes.commands.map((each) => each.command).filter((each) => !known.includes(each)), []);
  const { capabilities } = extension.packageJSON as { capabilities: { untrustedWorkspaces: { supported: boolean } } };
  assert.equal(capabilities.untrustedWorkspaces.supported, false);
});

test("settings: what is set reaches the server at once, what is not set stays the project's", async () => {
  const { host } = await api();
  put([answer(fn("few", "x * 3")), answer(fn("few", "x * 4")), answer(fn("few", "x * 2"))], red("few"));
  await open("few.py");
  await open("test_few.py");
  const preset = async (): Promise<string> => {
    const reply = await host.client()?.sendRequest<Choices>("greenloop/choices", { uri: vscode.Uri.file(path.join(root(), "few.py")).toString() });
    return reply?.preset ?? "";
  };
  assert.equal(await preset(), "plain");
  await set("preset", "self-debug");
  await until("the new preset", async () => (await preset()) === "self-debug");
  await set("preset", "plain");
  await until("the old preset", async () => (await preset()) === "plain");
  // Nobody has set `attempts` here, so the default of package.json must not stand above the project's own.
  fs.writeFileSync(path.join(root(), "pyproject.toml"), "[tool.greenloop]\nattempts = 2\n");
  try {
    await act("test_few.py", 4, `${REFINE}test_few`);
    const shown = (): vscode.Diagnostic[] => diagnostics("test_few.py");
    const end = await until("an end without a result", () => shown().find((each) => each.code === "unsolved"), shown);
    assert.match(end.message, /after 2 attempts: the limit of attempts was reached/);
  } finally {
    fs.writeFileSync(path.join(root(), "pyproject.toml"), "");
  }
  await vscode.commands.executeCommand("greenloop.discard");
  await isClear("test_few.py");
});

test("a killed server is started again, and nothing of it is left", async () => {
  await ready();
  const old = server() ?? 0;
  const family = beneath(old).map((each) => each.pid);
  put([answer(fn("killed", "x * 2"))], red("killed"));
  const module = (await open("killed.py")).document;
  await open("test_killed.py");
  process.kill(old, "SIGKILL");
  await until("another server", () => server() !== undefined && server() !== old);
  await ready();
  await until("the end of what the old one had started", () => !family.some(alive));
  await act("test_killed.py", 4, `${REFINE}test_killed`);
  await becomes(module, fn("killed", "x * 2"));
});

test("a server that falls in the middle of a run: what is lost is said", async () => {
  await ready();
  const { host } = await api();
  const from = host.problems.told.length;
  put([answer(waiting("fallen", "x * 2", gate("fallen")))], red("fallen"));
  await open("fallen.py");
  await open("test_fallen.py");
  await act("test_fallen.py", 4, `${REFINE}test_fallen`);
  await shows("test_fallen.py", "Refining test_fallen");
  await until("the run in the view", async () => (await rows()).some((row) => row.includes("test_fallen")));
  process.kill(server() ?? 0, "SIGKILL");
  const problem = await told("lost", from);
  assert.match(problem.message, /not refined to the end: test_fallen\./);
  await until("another server", () => server() !== undefined);
  await ready();
  await vscode.commands.executeCommand("greenloop.discard");
  await isClear("test_fallen.py");
});

test("an interpreter that is none: one message with a button that fixes it", async () => {
  const { host } = await api();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python");
  const from = host.problems.told.length;
  await set("python", path.join(root(), "no-such-python"));
  try {
    const problem = await told("interpreter", from);
    assert.match(problem.message, /no-such-python \(setting greenloop\.python\) is no Python that answers\./);
    const seen = await ask("see", "is no Python that answers");
    assert.match(seen, /Choose Interpreter/);
    assert.equal(host.standing.state, "error");
    assert.equal(server(), undefined);
    await ask("press", "is no Python that answers", "Choose Interpreter");
    await ask("see-pick", "greenloop: Choose Interpreter");
    // Whatever is asked for then has the same answer, with the same buttons.
    const before = host.problems.told.length;
    await vscode.commands.executeCommand("greenloop.choose.model");
    assert.deepEqual(host.problems.told.slice(before), [problem]);
  } finally {
    await set("python", python);
  }
  await ready();
});

test("a Python that is too old: its version is named", async () => {
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python");
  const { host } = await api();
  const from = host.problems.told.length;
  const old = path.join(root(), "python3.9");
  fs.writeFileSync(old, `#!/bin/sh\necho '{"path": "", "version": [3, 9, 2], "greenloop": null}'\n`, { mode: 0o755 });
  await set("python", old);
  try {
    assert.match((await told("interpreter", from)).message, /python3\.9 \(setting greenloop\.python\) is Python 3\.9\.2/);
  } finally {
    await set("python", python);
  }
  await ready();
});

test("an old greenloop: its version is named, and installing is offered", async () => {
  const { host } = await api();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python") ?? "";
  const from = host.problems.told.length;
  // A Python that has another greenloop, in the way of its users: a folder before all others.
  const old = path.join(root(), "old");
  fs.mkdirSync(path.join(old, "lib", "greenloop"), { recursive: true });
  fs.writeFileSync(path.join(old, "lib", "greenloop", "__init__.py"), '__version__ = "0.0.3"\n');
  fs.writeFileSync(path.join(old, "python"), `#!/bin/sh\nPYTHONPATH='${path.join(old, "lib")}' exec '${python}' "$@"\n`, { mode: 0o755 });
  await set("python", path.join(old, "python"));
  try {
    const problem = await told("old", from);
    assert.match(problem.message, /greenloop 0\.0\.3 of .* is too old for this extension/);
    assert.deepEqual(problem.buttons.map((each) => each.command), ["greenloop.run.install", "greenloop.run.interpreter"]);
    assert.match(await ask("see", "is too old for this extension"), /Install greenloop/);
    assert.equal(host.standing.state, "error");
  } finally {
    await set("python", python);
  }
  await ready();
});

test("a server that ends again and again is not started for ever", async () => {
  const { host } = await api();
  const python = vscode.workspace.getConfiguration("greenloop").get<string>("python") ?? "";
  const from = host.problems.told.length;
  const file = path.join(root(), "crashing");
  fs.writeFileSync(file, `#!/bin/sh\ncase "$*" in *serve*) echo 'the disk is on fire' >&2; exit 1;; esac\nexec '${python}' "$@"\n`, { mode: 0o755 });
  await set("python", file);
  try {
    const problem = await until("message", () => host.problems.told.slice(from).at(-1));
    assert.match(problem.message, /the disk is on fire/);
    assert.ok(problem.buttons.some((each) => each.command === "greenloop.run.restart"), JSON.stringify(problem));
    await ask("see", "the disk is on fire");
  } finally {
    await set("python", python);
  }
  await ready();
  assert.equal(host.problems.told.slice(from).length, 1, JSON.stringify(host.problems.told.slice(from)));
});
