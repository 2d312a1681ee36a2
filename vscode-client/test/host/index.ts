// Runs inside the extension host: VS Code calls `run`, and exits with its outcome.

// In this order: tests that break the server come last.
import "./story.test";
import "./commands.test";
import "./attempts.test";
import "./inlineDiff.test";
import "./messages.test";
import "./model.test";
import "./agents.test";
import "./choose.test";
import "./units.test";
import "./start.test";

import * as vscode from "vscode";

import { askWindow, tests } from "./helpers";

export async function run(): Promise<void> {
  const only = process.env["GREENLOOP_TEST_ONLY"] ?? "";
  const onlyStories = Boolean(process.env["GREENLOOP_TEST_STORIES"]);
  let failed = 0;
  let done = 0;
  for (const each of tests) {
    if (!each.name.includes(only) || (onlyStories && !each.isStory)) continue;
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
      await askWindow("failed", each.name);
    }
    done += 1;
    await askWindow("report", `${word} ${each.name} (${((Date.now() - began) / 1000).toFixed(1)} s)${why}`);
  }
  await askWindow("report", `${String(done)} tests, ${String(failed)} failed`);
  // The error only sets the exit code.
  if (failed > 0 || done === 0) throw new Error(`${String(failed)} tests failed`);
}
