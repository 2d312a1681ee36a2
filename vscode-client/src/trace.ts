// The channel of the messages between editor and server.

import * as vscode from "vscode";

import { METHODS } from "./protocol";

/** A key is in no log: of what is said about one, the first line is left. */
export function withoutKey(message: string): string {
  return message.includes(METHODS.key) ? (message.split("\n", 1)[0] ?? "") : message;
}

/** vscode-languageclient goes by the channel's log level, people by `greenloop.trace.server`: so that is its level. */
export function traceChannel(subscriptions: vscode.Disposable[]): vscode.LogOutputChannel {
  const channel = vscode.window.createOutputChannel("greenloop messages");
  const changed = new vscode.EventEmitter<vscode.LogLevel>();
  const level = (): vscode.LogLevel =>
    vscode.workspace.getConfiguration("greenloop").get<string>("trace.server", "off") === "off"
      ? vscode.LogLevel.Off
      : vscode.LogLevel.Trace;
  const write = (message: string | Error): void => {
    if (level() === vscode.LogLevel.Trace) {
      channel.appendLine(`${new Date().toISOString()} ${withoutKey(String(message))}`);
    }
  };
  subscriptions.push(
    channel,
    changed,
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("greenloop.trace.server")) {
        changed.fire(level());
      }
    }),
  );
  return {
    name: channel.name,
    get logLevel() {
      return level();
    },
    onDidChangeLogLevel: changed.event,
    trace: write,
    debug: write,
    info: write,
    warn: write,
    error: write,
    append: (text) => channel.append(text),
    appendLine: (text) => channel.appendLine(text),
    replace: (text) => channel.replace(text),
    clear: () => channel.clear(),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the interface asks for it
    show: () => channel.show(true),
    hide: () => channel.hide(),
    dispose: () => channel.dispose(),
  };
}
