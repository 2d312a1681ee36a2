// Shows a problem as one sentence with buttons that fix it. The same problem is shown at most once a minute.

import * as vscode from "vscode";

import { escapeLinks } from "./escapeMarkdown";

/** Runs a command. */
export interface Button {
  title: string;
  command: string;
  arguments?: readonly unknown[];
}

export interface Problem {
  /** Identifies the kind of problem, for the log and tests. */
  reason: string;
  message: string;
  buttons: readonly Button[];
  severity?: "error" | "warning" | "information";
}

const REPEAT_AFTER_MS = 60_000;
const HISTORY_SIZE = 50;

/** Shows problems and remembers the latest. */
export class ProblemReporter {
  private readonly lastShown = new Map<string, number>();
  private readonly didShow = new vscode.EventEmitter<Problem>();
  readonly onDidShow = this.didShow.event;
  /** Shown problems, the oldest first; suppressed repeats are not included. */
  readonly history: Problem[] = [];

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly now: () => number = Date.now,
  ) {}

  show(problem: Problem): void {
    const key = `${problem.reason}\n${problem.message}`;
    const now = this.now();
    const previous = this.lastShown.get(key);
    if (previous !== undefined && now - previous < REPEAT_AFTER_MS) {
      return;
    }
    [...this.lastShown].filter(([, at]) => now - at >= REPEAT_AFTER_MS).forEach(([staleKey]) => this.lastShown.delete(staleKey));
    this.lastShown.set(key, now);
    this.history.push(problem);
    this.history.splice(0, this.history.length - HISTORY_SIZE);
    this.log.warn(`${problem.reason}: ${problem.message}`);
    this.didShow.fire(problem);
    void this.showMessage(problem);
  }

  /** Allows the next problem to be shown even if it is a repeat, because the user asked for the action again. */
  allowRepeats(): void {
    this.lastShown.clear();
  }

  private async showMessage(problem: Problem): Promise<void> {
    const show = {
      error: vscode.window.showErrorMessage,
      warning: vscode.window.showWarningMessage,
      information: vscode.window.showInformationMessage,
    }[problem.severity ?? "error"];
    const chosen = await show(escapeLinks(problem.message), ...problem.buttons.map((button) => button.title));
    const button = problem.buttons.find((each) => each.title === chosen);
    if (button !== undefined) {
      await vscode.commands.executeCommand(button.command, ...(button.arguments ?? []));
    }
  }
}
