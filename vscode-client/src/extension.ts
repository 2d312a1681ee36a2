// Entry point: registers each feature, then starts the server.

import * as vscode from "vscode";

import { register as registerAgentTools } from "./features/agentTools";
import { register as registerApiKeys } from "./features/apiKeys";
import { register as registerAttemptsView } from "./features/attemptsView";
import { register as registerChatParticipant } from "./features/chatParticipant";
import { register as registerChooseModel } from "./features/chooseModel";
import { register as registerCommands } from "./features/commands";
import { register as registerDiff } from "./features/diff";
import { register as registerEditorModel } from "./features/editorModel";
import { register as registerFirstRun } from "./features/firstRun";
import { register as registerInlineDiff } from "./features/inlineDiff";
import { register as registerMarkdownPages } from "./features/markdownPages";
import { register as registerMcpServer } from "./features/mcpServer";
import { register as registerProgress } from "./features/progress";
import { register as registerRefusals } from "./features/refusals";
import { register as registerReview } from "./features/review";
import { register as registerSample } from "./features/sample";
import { register as registerServerMessages } from "./features/serverMessages";
import { register as registerSettings } from "./features/settings";
import { register as registerStatusBar } from "./features/statusBar";
import { register as registerTestExplorer } from "./features/testExplorer";
import type { Api, RegisterFeature } from "./host";
import { register as registerInstall } from "./install";
import { watchActivePython } from "./pythonExtension";
import { Session } from "./session";

const FEATURES: readonly RegisterFeature[] = [
  registerSettings,
  registerAttemptsView,
  registerChooseModel,
  registerCommands,
  registerDiff,
  registerEditorModel,
  registerServerMessages,
  registerMarkdownPages,
  registerRefusals,
  registerProgress,
  registerFirstRun,
  registerReview,
  registerSample,
  registerApiKeys,
  registerStatusBar,
  registerAgentTools,
  registerChatParticipant,
  registerMcpServer,
  registerTestExplorer,
  registerInlineDiff,
  registerInstall,
];

let activeSession: Session | undefined;

/** Returns at once; the server starts in the background. */
export function activate(context: vscode.ExtensionContext): Api {
  const session = new Session(context);
  activeSession = session;
  FEATURES.forEach((register) => register(session));
  context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.run.restart", () => {
      session.problems.allowRepeats();
      return session.restart();
    }),
    vscode.commands.registerCommand("greenloop.run.log", () => session.log.show(true)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("greenloop.python")) {
        void session.restart();
      }
    }),
    watchActivePython(() => void session.reconsider()),
  );
  void session.restart();
  return session.api;
}

export async function deactivate(): Promise<void> {
  await activeSession?.stop();
}
