// Runs inside the extension host: VS Code calls `run` and ends with its outcome.

// In this order; those that break the server stand last.
import "./story.test";
import "./commands.test";
import "./attempts.test";
import "./messages.test";
import "./model.test";
import "./choose.test";
import "./parts.test";
import "./start.test";

import * as vscode from "vscode";

import { ask, tests } from "./kit";

export async function run(): Promise<void> {
  const only = process.env["GREENLOOP_TEST_ONLY"] ?? "";
  let failed = 0;
  let done = 0;
  for (const each of tests) {
    if (!each.name.includes(only)) continue;
    const began = Date.now();
    let word = "ok";
    let why = "";
    try {
      await vscode.commands.executeCommand("notifications.clearAll");
      await each.run();
    } catch (error) {
      failed += 1;
      word = "FAILED";
      const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
      why = `\n${stack.split("\n").filter((line) => !/^\s+at .*(workbench|node:)/.test(line)).join("\n")}`;
      await ask("failed", each.name);
    }
    done += 1;
    await ask("report", `${word} ${each.name} (${((Date.now() - began) / 1000).toFixed(1)} s)${why}`);
  }
  await ask("report", `${String(done)} tests, ${String(failed)} failed`);
  // VS Code says by itself that it failed, which is nothing new.
  if (failed > 0 || done === 0) throw new Error(`${String(failed)} tests failed`);
}
