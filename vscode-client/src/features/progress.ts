// Shows the server's progress as notifications with a Cancel button; the language client shows a line without one.

import * as vscode from "vscode";
import {
  type ProgressToken,
  State,
  type WorkDoneProgressBegin,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";

import { escapeLinks } from "../escapeMarkdown";
import type { Host } from "../host";

/** Maximum number of notifications, as VS Code shows three; further tasks are visible in the attempts view. */
const MAX_VISIBLE = 3;

/** One task of the server, from begin to end. */
class ServerTask {
  private notification: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  private closeNotification: (() => void) | undefined;
  private message: string | undefined;
  private percentage = 0;
  private isOver = false;

  constructor(
    private readonly title: string,
    private readonly cancel: () => void,
  ) {}

  get isVisible(): boolean {
    return this.closeNotification !== undefined;
  }

  show(): void {
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: escapeLinks(this.title) };
    const closed = new Promise<void>((resolve) => {
      this.closeNotification = resolve;
    });
    void vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(this.cancel);
      this.notification = progress;
      const percentage = this.percentage;
      this.percentage = 0;
      this.report(this.message, percentage);
      return closed;
    });
  }

  report(message: string | undefined, percentage: number | undefined): void {
    this.message = message === undefined ? this.message : escapeLinks(message);
    const previous = this.percentage;
    this.percentage = Math.max(previous, Math.min(percentage ?? previous, 100));
    if (this.notification !== undefined && !this.isOver) {
      const increment = this.percentage - previous;
      this.notification.report({ message: this.message ?? "", ...(increment > 0 ? { increment } : {}) });
    }
  }

  end(): void {
    this.isOver = true;
    this.closeNotification?.();
  }
}

export function register(host: Host): void {
  // In the order in which they began.
  const tasks = new Map<ProgressToken, ServerTask>();

  function begin(token: ProgressToken, params: WorkDoneProgressBegin): void {
    const cancel = () => {
      void host.client()?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
    };
    const task = new ServerTask(params.title, cancel);
    tasks.set(token, task);
    task.report(params.message, params.percentage);
    showWaiting();
  }

  function showWaiting(): void {
    const freeSlots = MAX_VISIBLE - [...tasks.values()].filter((task) => task.isVisible).length;
    [...tasks.values()].filter((task) => !task.isVisible).slice(0, freeSlots).forEach((task) => task.show());
  }

  function end(token: ProgressToken): void {
    tasks.get(token)?.end();
    tasks.delete(token);
    showWaiting();
  }

  host.middleware.handleWorkDoneProgress = (token, params, next) => {
    if (params.kind === "begin" && params.cancellable === true) {
      begin(token, params);
    } else if (params.kind === "report" && tasks.has(token)) {
      tasks.get(token)?.report(params.message, params.percentage);
    } else {
      if (params.kind === "end") {
        end(token);
      }
      // Passed on so that the client forgets the token.
      next(token, params);
    }
  };

  host.onClientCreated((client) => {
    client.onDidChangeState((change) => {
      if (change.newState !== State.Running) {
        tasks.forEach((task) => task.end());
        tasks.clear();
      }
    });
  });
}
