// What the server reports while it works, as notifications with a Cancel button: by itself the client shows a line without one.

import * as vscode from "vscode";
import {
  type ProgressToken,
  State,
  type WorkDoneProgressBegin,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";

import type { Host } from "../host";
import { plain } from "../plain";

/** Notifications at once: VS Code shows three; whoever waits for a place is in the view of the attempts. */
const SHOWN = 3;

/** One work of the server, from its beginning to its end. */
class Work {
  private shown: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  private finish: (() => void) | undefined;
  private message: string | undefined;
  private percentage = 0;
  private over = false;

  constructor(
    private readonly title: string,
    private readonly cancel: () => void,
  ) {}

  get visible(): boolean {
    return this.finish !== undefined;
  }

  show(): void {
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: plain(this.title) };
    const done = new Promise<void>((resolve) => {
      this.finish = resolve;
    });
    void vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(this.cancel);
      this.shown = progress;
      const percentage = this.percentage;
      this.percentage = 0;
      this.report(this.message, percentage);
      return done;
    });
  }

  report(message: string | undefined, percentage: number | undefined): void {
    this.message = message === undefined ? this.message : plain(message);
    const before = this.percentage;
    this.percentage = Math.max(before, Math.min(percentage ?? before, 100));
    if (this.shown !== undefined && !this.over) {
      const increment = this.percentage - before;
      this.shown.report({ message: this.message ?? "", ...(increment > 0 ? { increment } : {}) });
    }
  }

  end(): void {
    this.over = true;
    this.finish?.();
  }
}

export function register(host: Host): void {
  // In the order in which they began.
  const works = new Map<ProgressToken, Work>();

  function begin(token: ProgressToken, params: WorkDoneProgressBegin): void {
    const cancel = () => {
      void host.client()?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
    };
    const work = new Work(params.title, cancel);
    works.set(token, work);
    work.report(params.message, params.percentage);
    fill();
  }

  function fill(): void {
    const free = SHOWN - [...works.values()].filter((work) => work.visible).length;
    [...works.values()].filter((work) => !work.visible).slice(0, free).forEach((work) => work.show());
  }

  function end(token: ProgressToken): void {
    works.get(token)?.end();
    works.delete(token);
    fill();
  }

  host.middleware.handleWorkDoneProgress = (token, params, next) => {
    if (params.kind === "begin" && params.cancellable === true) {
      begin(token, params);
    } else if (params.kind === "report" && works.has(token)) {
      works.get(token)?.report(params.message, params.percentage);
    } else {
      if (params.kind === "end") {
        end(token);
      }
      // The client forgets the token with its end.
      next(token, params);
    }
  };

  host.onClient((client) => {
    client.onDidChangeState((change) => {
      if (change.newState !== State.Running) {
        works.forEach((work) => work.end());
        works.clear();
      }
    });
  });
}
