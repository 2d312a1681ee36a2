// The status item: starting, ready, how many runs go on, or what is wrong; and the menu behind it.

import * as vscode from "vscode";

import type { Host, Register } from "../host";
import { runsOf } from "../runs";
import { needed } from "../python";

interface Entry extends vscode.QuickPickItem {
  command: string;
}

/** Each entry is there where its command is. */
const MENU: readonly Entry[] = [
  { label: "$(sparkle) Refine until tests pass", description: "at the cursor", command: "greenloop.here.refine" },
  { label: "$(stop-circle) Cancel refinements", command: "greenloop.here.cancel" },
  { label: "$(list-tree) Attempts", command: "greenloop.attempts.focus" },
  { label: "$(symbol-misc) Choose model", command: "greenloop.choose.model" },
  { label: "$(settings) Choose preset", command: "greenloop.choose.preset" },
  { label: "$(cloud-download) Pull the embedded model", command: "greenloop.run.pullModel" },
  { label: "$(pulse) Doctor", description: "what of this machine works", command: "greenloop.run.doctor" },
  { label: "$(debug-restart) Restart the server", command: "greenloop.run.restart" },
  { label: "$(output) Show the log", command: "greenloop.run.log" },
  { label: "$(package) Install greenloop", command: "greenloop.run.install" },
  { label: "$(file-code) Choose interpreter", command: "greenloop.run.interpreter" },
];
/** What has a meaning without a server; the others come when there is one. */
const ALWAYS = new Set(["restart", "log", "install", "interpreter"].map((name) => `greenloop.run.${name}`));

async function menu(host: Host): Promise<void> {
  const known = new Set(await vscode.commands.getCommands(true));
  const ready = host.standing.state === "ready";
  const running = runsOf(host).running.length > 0;
  const entries = MENU.filter(
    ({ command }) =>
      known.has(command) &&
      (ready ? command !== "greenloop.run.install" : ALWAYS.has(command)) &&
      (running || command !== "greenloop.here.cancel"),
  );
  const chosen = await vscode.window.showQuickPick(entries, { placeHolder: host.standing.said, title: "greenloop" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

export const register: Register = (host) => {
  const runs = runsOf(host);
  const item = vscode.window.createStatusBarItem("greenloop.status", vscode.StatusBarAlignment.Left, 10);
  item.name = "greenloop";
  item.command = "greenloop.run.menu";
  const show = (): void => {
    const { state, said } = host.standing;
    const count = state === "ready" ? runs.running.length : 0;
    const icons = { starting: "$(loading~spin)", ready: count > 0 ? "$(sync~spin)" : "$(beaker)", error: "$(error)" };
    item.text = `${icons[state]} greenloop${count > 0 ? ` ${count}` : ""}`;
    item.tooltip = count > 0 ? runs.running.map((run) => `${run.name}: ${run.said}`).join("\n") : said;
    const words = { starting: "starting", ready: count > 0 ? `${count} running` : "ready", error: said };
    item.accessibilityInformation = { label: `greenloop, ${words[state]}` };
    item.backgroundColor = state === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  show();
  item.show();
  host.log.info(`Extension ${needed(host.context)}, VS Code ${vscode.version}.`);
  host.context.subscriptions.push(
    item,
    host.onDidChangeStanding(show),
    runs.onDidChange(show),
    vscode.commands.registerCommand("greenloop.run.menu", () => menu(host)),
  );
};
