// Shows refinements of tests as runs of the Test Results view, wherever they were started.

import type * as vscode from "vscode";

import { attemptName, formatAttempt } from "./formatting";
import type { Host } from "./host";
import { type Attempt, METHODS, type Run, type TargetRef } from "./protocol";
import type { RunStore } from "./runStore";
import { errorMessage, executeCommand, waitForClient } from "./serverRequests";
import { createMessage, reportAttempt, reportEnd, writeOutput } from "./testReports";
import type { TestTree } from "./testTree";

/** Milliseconds after its answer in which a refinement's last state arrives. */
const LATE_MS = 2_000;

interface Shown {
  testRun: vscode.TestRun;
  item: vscode.TestItem;
  /** The state of an earlier refinement of the same test, which this is not. */
  before: string;
  /** The number of the next attempt to report. */
  next: number;
  over: () => void;
}

export class RefineReports {
  private readonly shown = new Map<string, Shown>();

  constructor(
    private readonly host: Host,
    private readonly tree: TestTree,
    private readonly runs: RunStore,
    private readonly createTestRun: (item: vscode.TestItem, name: string) => vscode.TestRun,
  ) {
    host.context.subscriptions.push(runs.onDidChange(() => this.update()));
  }

  /** Refines a test, and reports it in a run that the user has started. */
  async refine(testRun: vscode.TestRun, item: vscode.TestItem, token: vscode.CancellationToken): Promise<void> {
    const client = await waitForClient(this.host);
    const ref: TargetRef = { uri: item.uri?.toString() ?? "", target: this.tree.nodeId(item) };
    const over = new Promise<void>((resolve) => this.show(ref, testRun, item, resolve));
    try {
      await client?.sendRequest(METHODS.refine, { uri: ref.uri, test: ref.target }, token);
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, LATE_MS))]);
    } catch (error) {
      if (!token.isCancellationRequested) {
        testRun.errored(item, createMessage(errorMessage(error)));
      }
    } finally {
      this.shown.delete(keyOf(ref));
    }
  }

  private show(ref: TargetRef, testRun: vscode.TestRun, item: vscode.TestItem, over: () => void): Shown {
    testRun.started(item);
    const shown = { testRun, item, before: JSON.stringify(this.runs.find(ref)), next: 0, over };
    this.shown.set(keyOf(ref), shown);
    return shown;
  }

  private update(): void {
    for (const run of this.runs.all) {
      const shown = this.shown.get(keyOf(run)) ?? this.showOther(run);
      if (shown !== undefined && JSON.stringify(run) !== shown.before) {
        run.attempts.slice(shown.next).forEach((attempt) => this.showAttempt(shown, run, attempt));
        shown.next = run.attempts.length;
        if (run.phase === "over") {
          reportEnd(shown.testRun, shown.item, run);
          const fixed = run.applied ? run.alsoFixed.flatMap((test) => this.tree.findById(test) ?? []) : [];
          fixed.forEach((item) => shown.testRun.passed(item));
          this.shown.delete(keyOf(run));
          shown.over();
        }
      }
    }
    // The server has stopped.
    for (const [key, shown] of this.runs.all.length === 0 ? this.shown : []) {
      this.shown.delete(key);
      shown.over();
    }
  }

  /** As a run of its own: within one run a test that has failed stays so. */
  private showAttempt({ testRun, item }: Shown, run: Run, attempt: Attempt): void {
    const name = `${attemptName(attempt.attempt)} of ${run.name}`;
    writeOutput(testRun, `${name}: ${formatAttempt(attempt)}\n`, item);
    if (attempt.attempt > 0) {
      const ofAttempt = this.createTestRun(item, name);
      reportAttempt(ofAttempt, item, attempt);
      ofAttempt.end();
    }
  }

  /** A refinement that was started by a lens, a key or a menu. */
  private showOther(run: Run): Shown | undefined {
    const item = run.phase === "over" ? undefined : this.tree.find(run.uri, run.target);
    if (item === undefined) {
      return undefined;
    }
    const testRun = this.createTestRun(item, `Refine ${run.name}`);
    testRun.token.onCancellationRequested(() => void executeCommand(this.host, "greenloop.cancel", { uri: run.uri, target: run.target }));
    const shown = this.show(run, testRun, item, () => testRun.end());
    shown.before = "";
    return shown;
  }
}

function keyOf({ uri, target }: TargetRef): string {
  return `${uri}\n${target}`;
}
