// Parts that decide by themselves: versions, floods of output, messages that are not repeated, what a refusal offers.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { PassThrough } from "node:stream";

import { type ExtensionContext, Uri } from "vscode";

import { finish, fresh, inside, sweep, use } from "../../src/environment";
import { refusal } from "../../src/features/problems";
import { Bounded, Lines } from "../../src/output";
import { withoutKey } from "../../src/trace";
import { ended } from "../../src/troubles";
import { atLeast } from "../../src/version";
import { folder } from "../support/places";
import { api, test, uri } from "./kit";

test("versions: newer fits, older and what is none does not", () => {
  const fits = ["0.1.0", "0.1.0.post1", "0.1.0+local", "0.1", "0.1.1rc1", "0.10.0", "1.0", "v0.2", " 0.1.0\n"];
  const old = ["0.0.9", "0.1.0rc1", "0.1.0.dev3", "0.0.99", "", "unknown", "0"];
  assert.deepEqual(fits.filter((each) => !atLeast(each, "0.1.0")), []);
  assert.deepEqual(old.filter((each) => atLeast(each, "0.1.0")), []);
  assert.ok(atLeast("0.1.0rc2", "0.1.0rc1"));
  return Promise.resolve();
});

test("a flood on the server's standard error is cut, told, and over after ten seconds", async () => {
  const written: string[] = [];
  let now = 0;
  const bounded = new Bounded((line) => written.push(line), () => now);
  const stream = new PassThrough();
  const lines = new Lines(stream, (line) => { bounded.take(line); });
  const over = new Promise((resolve) => stream.once("end", resolve));
  // One line that never ends, then many.
  for (let count = 0; count < 300; count++) stream.write("x".repeat(100_000));
  for (let count = 0; count < 20_000; count++) stream.write(`\nline ${String(count)} ${"y".repeat(90)}`);
  stream.end("\nlast");
  await over;
  const size = written.join("").length;
  assert.ok(size < 70_000, String(size));
  assert.equal(written[0], `${"x".repeat(2000)} …`);
  assert.match(written.at(-1) ?? "", /left out/);
  assert.equal(lines.tail.length, 30);
  assert.equal(lines.tail.at(-1), "last");
  now = 10_000;
  bounded.take("again");
  assert.match(written.at(-2) ?? "", /^… \d+ characters were left out$/);
  assert.equal(written.at(-1), "again");
});

test("a character that comes in two pieces is one", async () => {
  const seen: string[] = [];
  const stream = new PassThrough();
  new Lines(stream, (line) => seen.push(line));
  const over = new Promise((resolve) => stream.once("end", resolve));
  const bytes = Buffer.from("grün\nnächste");
  for (const byte of bytes) stream.write(Buffer.from([byte]));
  stream.end();
  await over;
  assert.deepEqual(seen, ["grün", "nächste"]);
});

test("the same message comes once a minute, another at once", async () => {
  const { host } = await api();
  const from = host.problems.told.length;
  const same = { reason: "test", message: "The same.", buttons: [], severity: "information" as const };
  host.problems.show(same);
  host.problems.show({ ...same });
  host.problems.show({ ...same, message: "Another." });
  assert.deepEqual(host.problems.told.slice(from).map((each) => each.message), ["The same.", "Another."]);
  host.problems.forget();
  host.problems.show(same);
  assert.equal(host.problems.told.slice(from).length, 3);
});

test("each reason of a refusal has a button that there is", async () => {
  const { host } = await api();
  assert.equal(host.standing.state, "ready");
  const { commands } = await import("vscode");
  const known = await commands.getCommands(true);
  const reasons = ["model", "cannot-verify", "environment", "settings", "usage", "workspace", "changed", "something new"];
  for (const reason of reasons) {
    const problem = refusal({ uri: "", reason, message: "It cannot be.", remedy: "Do that." });
    assert.equal(problem.message, "It cannot be. Do that.");
    assert.ok(problem.buttons.length > 0, reason);
    assert.deepEqual(problem.buttons.map((each) => each.command).filter((each) => !known.includes(each)), [], reason);
  }
});

test("a file that is not saved, or in no folder, has buttons of its own", () => {
  const buttons = (uri: string): string[] =>
    refusal({ uri, reason: "usage", message: "No.", remedy: "" }).buttons.map((each) => each.command);
  assert.deepEqual(buttons("untitled:Untitled-1"), ["workbench.action.files.saveAs"]);
  assert.deepEqual(buttons("file:///elsewhere/m.py").slice(1), ["workbench.action.files.openFolder"]);
  assert.deepEqual(buttons(uri("m.py").toString()), ["workbench.action.gotoSymbol"]);
  return Promise.resolve();
});

test("an environment that was replaced goes when nobody runs it any more", async () => {
  const storage = folder("storage");
  const context = { globalStorageUri: Uri.file(storage) } as ExtensionContext;
  const day = new Date(Date.now() - 2 * 24 * 3600 * 1000);
  const made = async (days: number): Promise<string> => {
    const place = await fresh(context);
    await finish(place, "0.1.0");
    const at = new Date(day.getTime() - days * 1000);
    fs.utimesSync(path.join(place, "greenloop-complete"), at, at);
    return place;
  };
  const [newest, used, unused] = [await made(0), await made(1), await made(2)];
  try {
    await use(context, inside(used));
    // A process that is gone: its number is beyond all that there can be.
    fs.writeFileSync(path.join(unused, "greenloop-user-99999999"), "");
    await sweep(context);
    assert.deepEqual([newest, used, unused].map((each) => fs.existsSync(each)), [true, true, false]);
  } finally {
    fs.rmSync(storage, { recursive: true });
  }
});

test("a message that hands a key over is shown without it", () => {
  const head = "Sending response 'greenloop/key - (3)'. Processing request took 2ms.";
  assert.equal(withoutKey(`${head}\nResult: {\n    "key": "sk-1"\n}`), head);
  const other = "Sending request 'greenloop/attempt - (4)'.\nParams: {}";
  assert.equal(withoutKey(other), other);
  return Promise.resolve();
});

test("the last words of a process are short", () => {
  assert.equal(ended([], "it ended with code 1"), "it ended with code 1.");
  assert.equal(ended(["first", "x".repeat(500)], "").length, 202);
  return Promise.resolve();
});
