// The first run: while there is no model, the status bar, the empty view and the walkthrough offer three ways to go on.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";
import { type Choices, METHODS } from "../protocol";

/** The user chose to work without a model. */
const WITHOUT_MODEL = "greenloop.withoutModel";

interface Way extends vscode.QuickPickItem {
  command: string;
}

const WAYS: readonly Way[] = [
  {
    label: "$(zap) Without a model",
    detail: "Fixes one-token slips, imports and upgrades by running the tests. Downloads nothing.",
    command: "greenloop.choose.noModel",
  },
  {
    label: "$(cloud-download) Download the embedded model",
    detail: "1.1 GB, once. It runs on this machine, and nothing leaves it.",
    command: "greenloop.run.pullModel",
  },
  { label: "$(list-selection) Choose…", detail: "The editor's own model, Ollama, or one with an API key.", command: "greenloop.choose.model" },
];

export const register: RegisterFeature = (host) => {
  const item = vscode.window.createStatusBarItem("greenloop.firstRun", vscode.StatusBarAlignment.Left, 9);
  item.name = "greenloop: first run";
  item.text = "$(rocket) Choose how greenloop finds fixes";
  item.command = "greenloop.choose.start";
  item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
  let isOpen = false;

  const update = async (): Promise<void> => {
    isOpen = host.serverStatus.state === "ready" && host.context.globalState.get(WITHOUT_MODEL) !== true && !(await hasModel(host));
    void vscode.commands.executeCommand("setContext", "greenloop.firstRun", isOpen);
    if (isOpen) {
      item.show();
    } else {
      item.hide();
    }
  };
  const updateWhileOpen = (): void => {
    if (isOpen) {
      void update();
    }
  };
  // A download that has ended is the end of a task with progress.
  const { handleWorkDoneProgress } = host.middleware;
  host.middleware.handleWorkDoneProgress = (token, params, next) => {
    (handleWorkDoneProgress ?? next)(token, params, next);
    if (params.kind === "end") {
      updateWhileOpen();
    }
  };
  host.context.subscriptions.push(
    item,
    host.onDidChangeServerStatus(() => void update()),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("greenloop") && updateWhileOpen()),
    vscode.window.onDidChangeWindowState(updateWhileOpen),
    vscode.commands.registerCommand("greenloop.choose.start", async () => {
      const way = await vscode.window.showQuickPick(WAYS, { title: "greenloop: First Run", placeHolder: "How should greenloop find fixes?" });
      if (way !== undefined) {
        await vscode.commands.executeCommand(way.command);
      }
    }),
    vscode.commands.registerCommand("greenloop.choose.noModel", async () => {
      await host.context.globalState.update(WITHOUT_MODEL, true);
      await update();
      vscode.window.setStatusBarMessage("greenloop works without a model; choose one when a fix needs it", 5000);
    }),
  );
};

async function hasModel(host: Host): Promise<boolean> {
  try {
    return (await host.client()?.sendRequest<Choices>(METHODS.choices, {}))?.hasModel ?? true;
  } catch (error) {
    // The server ended meanwhile.
    host.log.debug(String(error));
    return true;
  }
}
