// The status bar item (starting, ready, number of active runs, or what is wrong) and its menu.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";
import { extensionVersion } from "../python";
import { runStoreOf } from "../runStore";

interface MenuEntry extends vscode.QuickPickItem {
  command: string;
}

/** An entry is shown if its command is registered. */
const MENU: readonly MenuEntry[] = [
  { label: "$(sparkle) Refine until tests pass", description: "at the cursor", command: "greenloop.here.refine" },
  { label: "$(stop-circle) Cancel refinements", command: "greenloop.here.cancel" },
  { label: "$(list-tree) Show attempts", command: "greenloop.attempts.focus" },
  { label: "$(symbol-misc) Choose model", command: "greenloop.choose.model" },
  { label: "$(settings) Choose preset", command: "greenloop.choose.preset" },
  { label: "$(cloud-download) Download the embedded model", command: "greenloop.run.pullModel" },
  { label: "$(pulse) Check the installation", description: "doctor", command: "greenloop.run.doctor" },
  { label: "$(debug-restart) Restart the server", command: "greenloop.run.restart" },
  { label: "$(output) Show the log", command: "greenloop.run.log" },
  { label: "$(package) Install greenloop", command: "greenloop.run.install" },
  { label: "$(file-code) Choose interpreter", command: "greenloop.run.interpreter" },
];
/** Commands that work without a server. */
const WITHOUT_SERVER = new Set(["restart", "log", "install", "interpreter"].map((name) => `greenloop.run.${name}`));

async function showMenu(host: Host): Promise<void> {
  const registered = new Set(await vscode.commands.getCommands(true));
  const isReady = host.serverStatus.state === "ready";
  const isRefining = runStoreOf(host).running.length > 0;
  const entries = MENU.filter(
    ({ command }) =>
      registered.has(command) &&
      (isReady ? command !== "greenloop.run.install" : WITHOUT_SERVER.has(command)) &&
      (isRefining || command !== "greenloop.here.cancel"),
  );
  const chosen = await vscode.window.showQuickPick(entries, { placeHolder: host.serverStatus.message, title: "greenloop" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

export const register: RegisterFeature = (host) => {
  const runs = runStoreOf(host);
  const item = vscode.window.createStatusBarItem("greenloop.status", vscode.StatusBarAlignment.Left, 10);
  item.name = "greenloop";
  item.command = "greenloop.run.menu";
  const update = (): void => {
    const { state, message } = host.serverStatus;
    const count = state === "ready" ? runs.running.length : 0;
    const icons = { starting: "$(loading~spin)", ready: count > 0 ? "$(sync~spin)" : "$(beaker)", error: "$(error)" };
    item.text = `${icons[state]} greenloop${count > 0 ? ` ${count}` : ""}`;
    item.tooltip = count > 0 ? runs.running.map((run) => `${run.name}: ${run.said}`).join("\n") : message;
    const stateLabels = { starting: "starting", ready: count > 0 ? `${count} running` : "ready", error: message };
    item.accessibilityInformation = { label: `greenloop, ${stateLabels[state]}` };
    item.backgroundColor = state === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  update();
  item.show();
  host.log.info(`Extension ${extensionVersion(host.context)}, VS Code ${vscode.version}.`);
  host.context.subscriptions.push(
    item,
    host.onDidChangeServerStatus(update),
    runs.onDidChange(update),
    vscode.commands.registerCommand("greenloop.run.menu", () => showMenu(host)),
  );
};
