// Holds the runs that the server reports, for all features that show or use them.

import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";

import type { Host } from "./host";
import { METHODS, type Run, type RunsParams, type TargetRef } from "./protocol";

export class RunStore {
  private readonly didChange = new vscode.EventEmitter<void>();
  readonly onDidChange = this.didChange.event;
  /** Newest first. */
  all: readonly Run[] = [];
  /** Runs that were active when the last server stopped. */
  interrupted: readonly Run[] = [];

  get running(): readonly Run[] {
    return this.all.filter((run) => run.phase !== "over");
  }

  find(target: TargetRef): Run | undefined {
    return this.all.find((run) => run.uri === target.uri && run.target === target.target);
  }

  /** The server has stopped. Its active runs stay available as `interrupted` until the next server reports its own. */
  markInterrupted(): void {
    const interrupted = [...this.interrupted, ...this.running];
    this.replace([]);
    this.interrupted = interrupted;
  }

  replace(runs: readonly Run[]): void {
    this.interrupted = [];
    this.all = runs;
    void vscode.commands.executeCommand("setContext", "greenloop.running", this.running.length > 0);
    void vscode.commands.executeCommand("setContext", "greenloop.finished", this.all.length > this.running.length);
    this.didChange.fire();
  }
}

const stores = new WeakMap<Host, RunStore>();

/** A client allows one handler for each message, so that all features share this store. */
export function runStoreOf(host: Host): RunStore {
  const existing = stores.get(host);
  if (existing !== undefined) {
    return existing;
  }
  const store = new RunStore();
  stores.set(host, store);
  host.onClientCreated((client) => {
    client.onNotification(METHODS.runs, (params: RunsParams) => store.replace(params.runs));
    client.onDidChangeState((change) => {
      if (change.newState === State.Stopped) {
        store.markInterrupted();
      }
    });
  });
  return store;
}

export function isTargetRef(value: unknown): value is TargetRef {
  return typeof value === "object" && value !== null && "uri" in value && typeof value.uri === "string" && "target" in value && typeof value.target === "string";
}
