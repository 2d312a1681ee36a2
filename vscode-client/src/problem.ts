// A problem as the user reads it: one sentence, and buttons that fix it. The same one is shown once a minute.

import * as vscode from "vscode";

import { plain } from "./plain";

/** A button runs a command. */
export interface Button {
  title: string;
  command: string;
  arguments?: readonly unknown[];
}

export interface Problem {
  /** A word for what is wrong; the status item and tests go by it. */
  reason: string;
  message: string;
  buttons: readonly Button[];
  severity?: "error" | "warning" | "information";
}

const AGAIN = 60_000;
const KEPT = 50;

/** Shows problems, and remembers the last of them. */
export class Problems {
  private readonly last = new Map<string, number>();
  private readonly shown = new vscode.EventEmitter<Problem>();
  readonly onDidShow = this.shown.event;
  /** The oldest first; what was kept back for being the same is not among them. */
  readonly told: Problem[] = [];

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly now: () => number = Date.now,
  ) {}

  show(problem: Problem): void {
    const key = `${problem.reason}\n${problem.message}`;
    const now = this.now();
    const before = this.last.get(key);
    if (before !== undefined && now - before < AGAIN) {
      return;
    }
    [...this.last].filter(([, at]) => now - at >= AGAIN).forEach(([old]) => this.last.delete(old));
    this.last.set(key, now);
    this.told.push(problem);
    this.told.splice(0, this.told.length - KEPT);
    this.log.warn(`${problem.reason}: ${problem.message}`);
    this.shown.fire(problem);
    void this.ask(problem);
  }

  /** Somebody asked for it himself: what was shown a moment ago is shown again. */
  forget(): void {
    this.last.clear();
  }

  private async ask(problem: Problem): Promise<void> {
    const show = {
      error: vscode.window.showErrorMessage,
      warning: vscode.window.showWarningMessage,
      information: vscode.window.showInformationMessage,
    }[problem.severity ?? "error"];
    const chosen = await show(plain(problem.message), ...problem.buttons.map((button) => button.title));
    const button = problem.buttons.find((one) => one.title === chosen);
    if (button !== undefined) {
      await vscode.commands.executeCommand(button.command, ...(button.arguments ?? []));
    }
  }
}
