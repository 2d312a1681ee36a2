// Parts that decide by themselves: versions, floods of output, messages that are not repeated, what a refusal offers.

import * as assert from "node:assert/strict";
import { PassThrough } from "node:stream";

import { refusal } from "../../src/features/problems";
import { Bounded, Lines } from "../../src/output";
import { ended } from "../../src/troubles";
import { atLeast } from "../../src/version";
import { api, test } from "./kit";

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

test("the last words of a process are short", () => {
  assert.equal(ended([], "it ended with code 1"), "it ended with code 1.");
  assert.equal(ended(["first", "x".repeat(500)], "").length, 202);
  return Promise.resolve();
});
