// A result that waits for the user's word: its diff, a message with Apply and Discard, and the same as buttons of the editor.

import * as vscode from "vscode";

import { execute } from "../ask";
import { same } from "../attemptUri";
import type { Host } from "../host";
import { plain } from "../plain";
import { METHODS, type Named, type ReviewParams, type Run } from "../protocol";
import { runsOf } from "../runs";
import { attemptIn, closeDiffs, openDiff } from "./diff";

const APPLY = "Apply";
const DISCARD = "Discard";

export function register(host: Host): void {
  const runs = runsOf(host);
  let waiting: ReviewParams[] = [];

  host.onClient((client) => {
    client.onNotification(METHODS.review, (params: ReviewParams) => void review(params));
  });

  async function review(params: ReviewParams): Promise<void> {
    waiting = [...waiting.filter((each) => !same(each, params)), params];
    mark();
    // Another result that waits does not take its place.
    await openDiff(host, params, false);
    const name = runs.find(params)?.name ?? params.target;
    const text = plain(`Attempt ${params.attempt} for ${name} is verified. Apply its changes?`);
    const chosen = await vscode.window.showInformationMessage(text, APPLY, DISCARD);
    // VS Code takes no message back: it may have been decided elsewhere, or be another one by now.
    if (chosen !== undefined && !waiting.includes(params)) {
      vscode.window.setStatusBarMessage(`$(info) ${name}: this is decided already`, 5000);
    } else if (chosen !== undefined) {
      await execute(host, chosen === APPLY ? "greenloop.apply" : "greenloop.discard", named(params));
    }
  }

  /** The editor has buttons where it shows a result that can be applied. */
  function mark(): void {
    const shown = attemptIn(vscode.window.tabGroups.activeTabGroup.activeTab);
    const run = shown === undefined ? undefined : runs.find(shown);
    const isOffered = run !== undefined && (run.offered || isWaiting(run)) && run.result === shown?.attempt;
    void vscode.commands.executeCommand("setContext", "greenloop.offered", isOffered);
  }

  function isWaiting(run: Named): boolean {
    return waiting.some((each) => same(each, run));
  }

  function settled(run: Run | undefined): boolean {
    return run === undefined || (run.phase === "over" && !run.offered) || run.phase === "landing";
  }

  host.context.subscriptions.push(
    runs.onDidChange(() => {
      const over = waiting.filter((each) => settled(runs.find(each)));
      waiting = waiting.filter((each) => !over.includes(each));
      over.forEach((each) => void closeDiffs(each));
      mark();
    }),
    vscode.window.tabGroups.onDidChangeTabs(mark),
    vscode.window.tabGroups.onDidChangeTabGroups(mark),
  );
}

function named({ uri, target }: Named): Named {
  return { uri, target };
}
