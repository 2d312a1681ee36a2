// The runs that the server knows: the one place that hears of them, for all parts that show or use them.

import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";

import type { Host } from "./host";
import { METHODS, type Named, type Run, type RunsParams } from "./protocol";

export class Runs {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  /** The newest first. */
  all: readonly Run[] = [];
  /** Those that went on when the last server ended. */
  lost: readonly Run[] = [];

  get running(): readonly Run[] {
    return this.all.filter((run) => run.phase !== "over");
  }

  find(named: Named): Run | undefined {
    return this.all.find((run) => run.uri === named.uri && run.target === named.target);
  }

  /** The server is gone: whoever wants to tell of it finds what is lost until the next one tells of its runs. */
  end(): void {
    const going = [...this.lost, ...this.running];
    this.take([]);
    this.lost = going;
  }

  take(runs: readonly Run[]): void {
    this.lost = [];
    this.all = runs;
    void vscode.commands.executeCommand("setContext", "greenloop.running", this.running.length > 0);
    void vscode.commands.executeCommand("setContext", "greenloop.finished", this.all.length > this.running.length);
    this.changed.fire();
  }
}

const known = new WeakMap<Host, Runs>();

/** A client has one handler for each message of the server, so whoever wants to know of runs asks here. */
export function runsOf(host: Host): Runs {
  const there = known.get(host);
  if (there !== undefined) {
    return there;
  }
  const runs = new Runs();
  known.set(host, runs);
  host.onClient((client) => {
    client.onNotification(METHODS.runs, (params: RunsParams) => runs.take(params.runs));
    client.onDidChangeState((change) => {
      if (change.newState === State.Stopped) {
        runs.end();
      }
    });
  });
  return runs;
}
