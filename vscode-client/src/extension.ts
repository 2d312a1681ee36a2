// Activation: nothing is decided here. Each part registers itself, then the server is started.

import * as vscode from "vscode";

import { register as attempts } from "./features/attempts";
import { register as choose } from "./features/choose";
import { register as commands } from "./features/commands";
import { register as diff } from "./features/diff";
import { register as editorModel } from "./features/editorModel";
import { register as messages } from "./features/messages";
import { register as pages } from "./features/pages";
import { register as problems } from "./features/problems";
import { register as progress } from "./features/progress";
import { register as review } from "./features/review";
import { register as sample } from "./features/sample";
import { register as secrets } from "./features/secrets";
import { register as settings } from "./features/settings";
import { register as status } from "./features/status";
import type { Api, Register } from "./host";
import { register as installation } from "./install";
import { watchActivePython } from "./pythonExtension";
import { Session } from "./session";

const PARTS: readonly Register[] = [
  settings,
  attempts,
  choose,
  commands,
  diff,
  editorModel,
  messages,
  pages,
  problems,
  progress,
  review,
  sample,
  secrets,
  status,
  installation,
];

let session: Session | undefined;

/** Returns at once: the server's start is not waited for. */
export function activate(context: vscode.ExtensionContext): Api {
  const host = new Session(context);
  session = host;
  PARTS.forEach((register) => register(host));
  context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.run.restart", () => {
      host.problems.forget();
      return host.restart();
    }),
    vscode.commands.registerCommand("greenloop.run.log", () => host.log.show(true)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("greenloop.python")) {
        void host.restart();
      }
    }),
    watchActivePython(() => void host.reconsider()),
  );
  void host.restart();
  return host.api;
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
