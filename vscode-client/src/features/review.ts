// Reviews a verified result before it is applied: its diff, a message with Apply and Discard, and editor buttons.

import * as vscode from "vscode";

import { isSameTarget } from "../attemptUri";
import { escapeLinks } from "../escapeMarkdown";
import type { Host } from "../host";
import { METHODS, type ReviewParams, type Run, type TargetRef } from "../protocol";
import { runStoreOf } from "../runStore";
import { executeCommand } from "../serverRequests";
import { attemptShownIn, closeDiffs, openDiff } from "./diff";

const APPLY = "Apply";
const DISCARD = "Discard";

export function register(host: Host): void {
  const runs = runStoreOf(host);
  let pending: ReviewParams[] = [];

  host.onClientCreated((client) => {
    client.onNotification(METHODS.review, (params: ReviewParams) => void showReview(params));
  });

  async function showReview(params: ReviewParams): Promise<void> {
    pending = [...pending.filter((each) => !isSameTarget(each, params)), params];
    updateContext();
    // Not a preview, so that another result does not replace it.
    await openDiff(host, params, false);
    const name = runs.find(params)?.name ?? params.target;
    const text = escapeLinks(`Attempt ${params.attempt} for ${name} is verified. Apply its changes?`);
    const chosen = await vscode.window.showInformationMessage(text, APPLY, DISCARD);
    // VS Code cannot withdraw a message: the result may have been decided elsewhere, or replaced by a newer one.
    if (chosen !== undefined && !pending.includes(params)) {
      vscode.window.setStatusBarMessage(`$(info) ${name}: the result was already applied, discarded or replaced`, 5000);
    } else if (chosen !== undefined) {
      await executeCommand(host, chosen === APPLY ? "greenloop.apply" : "greenloop.discard", toTargetRef(params));
    }
  }

  /** Enables the buttons in editors that show a result which can be applied. */
  function updateContext(): void {
    const attempt = attemptShownIn(vscode.window.tabGroups.activeTabGroup.activeTab);
    const run = attempt === undefined ? undefined : runs.find(attempt);
    const isOffered = run !== undefined && (run.offered || isPending(run)) && run.result === attempt?.attempt;
    void vscode.commands.executeCommand("setContext", "greenloop.offered", isOffered);
  }

  function isPending(run: TargetRef): boolean {
    return pending.some((each) => isSameTarget(each, run));
  }

  function isDecided(run: Run | undefined): boolean {
    return run === undefined || (run.phase === "over" && !run.offered) || run.phase === "landing";
  }

  host.context.subscriptions.push(
    runs.onDidChange(() => {
      const decided = pending.filter((each) => isDecided(runs.find(each)));
      pending = pending.filter((each) => !decided.includes(each));
      decided.forEach((each) => void closeDiffs(each));
      updateContext();
    }),
    vscode.window.tabGroups.onDidChangeTabs(updateContext),
    vscode.window.tabGroups.onDidChangeTabGroups(updateContext),
  );
}

function toTargetRef({ uri, target }: TargetRef): TargetRef {
  return { uri, target };
}
