// Parts that need no server: versions, output limits, repeated messages, buttons of a refusal, environments.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { PassThrough } from "node:stream";

import { type ExtensionContext, Uri } from "vscode";

import { attemptTooltip, formatAttempt, formatRun, runTooltip } from "../../src/formatting";
import { refusalProblem } from "../../src/features/refusals";
import { createFolder, markComplete, markInUse, pythonIn, removeUnused } from "../../src/managedEnvironments";
import { LineReader, OutputLimiter } from "../../src/processOutput";
import type { Attempt, Run } from "../../src/protocol";
import { describeExit } from "../../src/startupProblems";
import { redactKey } from "../../src/trace";
import { isAtLeast } from "../../src/version";
import { makeTempFolder } from "../support/paths";
import { extensionApi, test, uri } from "./helpers";

test("newer versions are accepted; older ones and other texts are not", () => {
  const newEnough = ["0.1.0", "0.1.0.post1", "0.1.0+local", "0.1", "0.1.1rc1", "0.10.0", "1.0", "v0.2", " 0.1.0\n"];
  const tooOld = ["0.0.9", "0.1.0rc1", "0.1.0.dev3", "0.0.99", "", "unknown", "0"];
  assert.deepEqual(newEnough.filter((each) => !isAtLeast(each, "0.1.0")), []);
  assert.deepEqual(tooOld.filter((each) => isAtLeast(each, "0.1.0")), []);
  assert.ok(isAtLeast("0.1.0rc2", "0.1.0rc1"));
  return Promise.resolve();
});

test("a flood on standard error is cut and reported, and logging resumes after ten seconds", async () => {
  const written: string[] = [];
  let now = 0;
  const bounded = new OutputLimiter((line) => written.push(line), () => now);
  const stream = new PassThrough();
  const lines = new LineReader(stream, (line) => { bounded.add(line); });
  const ended = new Promise((resolve) => stream.once("end", resolve));
  // One line that never ends, then many lines.
  for (let count = 0; count < 300; count++) stream.write("x".repeat(100_000));
  for (let count = 0; count < 20_000; count++) stream.write(`\nline ${String(count)} ${"y".repeat(90)}`);
  stream.end("\nlast");
  await ended;
  const size = written.join("").length;
  assert.ok(size < 70_000, String(size));
  assert.equal(written[0], `${"x".repeat(2000)} …`);
  assert.match(written.at(-1) ?? "", /is skipped/);
  assert.equal(lines.tail.length, 30);
  assert.equal(lines.tail.at(-1), "last");
  now = 10_000;
  bounded.add("again");
  assert.match(written.at(-2) ?? "", /^… \d+ characters were skipped$/);
  assert.equal(written.at(-1), "again");
});

test("a character that arrives in pieces is decoded", async () => {
  const lines: string[] = [];
  const stream = new PassThrough();
  new LineReader(stream, (line) => lines.push(line));
  const ended = new Promise((resolve) => stream.once("end", resolve));
  const bytes = Buffer.from("grün\nnächste");
  for (const byte of bytes) stream.write(Buffer.from([byte]));
  stream.end();
  await ended;
  assert.deepEqual(lines, ["grün", "nächste"]);
});

test("a repeated message is shown once a minute, another one at once", async () => {
  const { host } = await extensionApi();
  const from = host.problems.history.length;
  const same = { reason: "test", message: "The same.", buttons: [], severity: "information" as const };
  host.problems.show(same);
  host.problems.show({ ...same });
  host.problems.show({ ...same, message: "Another." });
  assert.deepEqual(host.problems.history.slice(from).map((each) => each.message), ["The same.", "Another."]);
  host.problems.allowRepeats();
  host.problems.show(same);
  assert.equal(host.problems.history.slice(from).length, 3);
});

test("every reason of a refusal has buttons whose commands exist", async () => {
  const { host } = await extensionApi();
  assert.equal(host.serverStatus.state, "ready");
  const { commands } = await import("vscode");
  const known = await commands.getCommands(true);
  const reasons = ["model", "cannot-verify", "environment", "settings", "usage", "workspace", "changed", "something new"];
  for (const reason of reasons) {
    const problem = refusalProblem({ uri: "", reason, message: "It cannot be.", remedy: "Do that." });
    assert.equal(problem.message, "It cannot be. Do that.");
    assert.ok(problem.buttons.length > 0, reason);
    assert.equal(problem.severity === "error", reason === "model", "a choice of a model stays until it is made");
    assert.deepEqual(problem.buttons.map((each) => each.command).filter((each) => !known.includes(each)), [], reason);
  }
});

test("refusals for unsaved files and files outside a folder have special buttons", () => {
  const buttons = (uri: string): string[] =>
    refusalProblem({ uri, reason: "usage", message: "No.", remedy: "" }).buttons.map((each) => each.command);
  assert.deepEqual(buttons("untitled:Untitled-1"), ["workbench.action.files.saveAs"]);
  assert.deepEqual(buttons("file:///elsewhere/m.py").slice(1), ["workbench.action.files.openFolder"]);
  assert.deepEqual(buttons(uri("m.py").toString()), ["workbench.action.gotoSymbol"]);
  return Promise.resolve();
});

test("a replaced environment is removed once no process uses it", async () => {
  const storage = makeTempFolder("storage");
  const context = { globalStorageUri: Uri.file(storage) } as ExtensionContext;
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 3600 * 1000);
  const create = async (days: number): Promise<string> => {
    const environment = await createFolder(context);
    await markComplete(environment, "0.1.0");
    const at = new Date(twoDaysAgo.getTime() - days * 1000);
    fs.utimesSync(path.join(environment, "greenloop-complete"), at, at);
    return environment;
  };
  const [newest, used, unused] = [await create(0), await create(1), await create(2)];
  try {
    await markInUse(context, pythonIn(used));
    // A process that has exited: no process id is that high.
    fs.writeFileSync(path.join(unused, "greenloop-user-99999999"), "");
    await removeUnused(context);
    assert.deepEqual([newest, used, unused].map((each) => fs.existsSync(each)), [true, true, false]);
  } finally {
    fs.rmSync(storage, { recursive: true });
  }
});

test("a message that contains a key is logged without it", () => {
  const head = "Sending response 'greenloop/key - (3)'. Processing request took 2ms.";
  assert.equal(redactKey(`${head}\nResult: {\n    "key": "sk-1"\n}`), head);
  const other = "Sending request 'greenloop/attempt - (4)'.\nParams: {}";
  assert.equal(redactKey(other), other);
  return Promise.resolve();
});

test("the last output of a process is shortened", () => {
  assert.equal(describeExit([], "it exited with code 1"), "it exited with code 1.");
  assert.equal(describeExit(["first", "x".repeat(500)], "").length, 202);
  return Promise.resolve();
});

const RUN: Run = {
  uri: "file:///w/m.py", target: "t.py::t", name: "t", phase: "over", said: "verified, applied", model: "openai/gpt-5.1", kind: "capable",
  looks: [], limit: 5, seconds: 4.2, solved: true, offered: false, applied: true, cancelled: false, result: 1, gain: "", heat: "",
  notes: ["`x = 1` is overwritten by the next line, m.py:12"], alsoFixed: [], attempts: [],
};
const ATTEMPT: Attempt = {
  attempt: 1, parent: 0, model: "openai/gpt-5.1", status: "passed", passed: 1, total: 1, errorClass: "", message: "", at: null,
  looks: Array.from({ length: 11 }, (_, number) => `read m${String(number)}.py`), tokens: 12300, cachedTokens: 9800, seconds: 2.1, cost: 0,
};

test("looks are counted, and the first are listed; tokens from a cache are named", () => {
  assert.equal(formatAttempt(ATTEMPT), "1/1, 11 looks, 12,300 tokens (9,800 cached), 2.1 s");
  const tooltip = attemptTooltip(ATTEMPT).split("\n");
  assert.deepEqual(tooltip.slice(2, 4), ["looked: read m0.py", "looked: read m1.py"]);
  assert.deepEqual(tooltip.slice(-2), ["looked: read m7.py", "… and 3 more"]);
  assert.equal(formatAttempt({ ...ATTEMPT, looks: ["read m.py"], cachedTokens: 0 }), "1/1, 1 look, 12,300 tokens, 2.1 s");
  assert.equal(formatRun({ ...RUN, attempts: [ATTEMPT] }), "1/5, 11 looks, 12,300 tokens (9,800 cached), 4.2 s");
  assert.equal(formatRun({ ...RUN, phase: "refining", said: "looking: read m.py", looks: ["read m.py"] }), "looking: read m.py, 1 look");
  return Promise.resolve();
});

test("a run's tooltip has the model with its kind, and what to look at in the result", () => {
  assert.equal(runTooltip(RUN), "t.py::t\nverified, applied\nopenai/gpt-5.1 (capable)\nNote: `x = 1` is overwritten by the next line, m.py:12");
  assert.equal(runTooltip({ ...RUN, model: "", kind: "", notes: [] }), "t.py::t\nverified, applied");
  return Promise.resolve();
});
