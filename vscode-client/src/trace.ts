// The output channel for the messages between the editor and the server.

import * as vscode from "vscode";

import { METHODS } from "./protocol";

/** Keeps only the first line of messages about API keys, so that no key is logged. */
export function redactKey(message: string): string {
  return message.includes(METHODS.key) ? (message.split("\n", 1)[0] ?? "") : message;
}

/** vscode-languageclient obeys the channel's log level, so that level follows `greenloop.trace.server`. */
export function createTraceChannel(subscriptions: vscode.Disposable[]): vscode.LogOutputChannel {
  const channel = vscode.window.createOutputChannel("greenloop messages");
  const didChangeLevel = new vscode.EventEmitter<vscode.LogLevel>();
  const currentLevel = (): vscode.LogLevel =>
    vscode.workspace.getConfiguration("greenloop").get<string>("trace.server", "off") === "off"
      ? vscode.LogLevel.Off
      : vscode.LogLevel.Trace;
  const write = (message: string | Error): void => {
    if (currentLevel() === vscode.LogLevel.Trace) {
      channel.appendLine(`${new Date().toISOString()} ${redactKey(String(message))}`);
    }
  };
  subscriptions.push(
    channel,
    didChangeLevel,
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("greenloop.trace.server")) {
        didChangeLevel.fire(currentLevel());
      }
    }),
  );
  return {
    name: channel.name,
    get logLevel() {
      return currentLevel();
    },
    onDidChangeLogLevel: didChangeLevel.event,
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
