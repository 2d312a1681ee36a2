// What the server refuses is shown in one message, with the button that fixes it; so are folders it cannot work in.

import * as vscode from "vscode";

import type { Register } from "../host";
import type { Button, Problem } from "../problem";
import { METHODS, type RefusedParams } from "../protocol";
import { LOG, remote } from "../troubles";

const MODEL: Button = { title: "Choose Model", command: "greenloop.choose.model" };
const KEY: Button = { title: "Set Key", command: "greenloop.keys.set" };
const PULL: Button = { title: "Pull Embedded Model", command: "greenloop.run.pullModel" };
const DOCTOR: Button = { title: "Doctor", command: "greenloop.run.doctor" };
const SETTINGS: Button = {
  title: "Open Settings",
  command: "workbench.action.openSettings",
  arguments: ["@ext:greenloop.greenloop"],
};
const GO: Button = { title: "Go to Function…", command: "workbench.action.gotoSymbol" };
const FOLDER: Button = { title: "Open Folder…", command: "workbench.action.files.openFolder" };
const SAVE: Button = { title: "Save As…", command: "workbench.action.files.saveAs" };
const AGAIN: Button = { title: "Refine Again", command: "greenloop.here.refine" };

/** The buttons for a reason of the server's; one that is not known here has the log. */
const CURES: Readonly<Record<string, readonly Button[]>> = {
  model: [MODEL, PULL],
  "cannot-verify": [DOCTOR],
  environment: [DOCTOR, SETTINGS],
  settings: [SETTINGS],
  usage: [GO],
  workspace: [DOCTOR, LOG],
  changed: [AGAIN],
  seconds: [SETTINGS],
  tokens: [SETTINGS],
  cost: [SETTINGS],
};
/** What is no fault of anybody. */
const MILD = new Set(["already-green", "changed", "cancelled"]);

export function refusal(params: RefusedParams): Problem {
  const message = [params.message, params.remedy].filter((part) => part !== "").join(" ");
  const isMild = MILD.has(params.reason);
  return { reason: params.reason, message, buttons: cures(params), severity: isMild ? "information" : "warning" };
}

function cures({ reason, message, remedy, uri }: RefusedParams): readonly Button[] {
  if (reason === "model" && /\bGive the editor (a|another) key\b/.test(`${message} ${remedy}`)) {
    return [KEY, MODEL];
  }
  if (reason === "usage" && uri.startsWith("untitled:")) {
    return [SAVE];
  }
  // A file without a folder may have no project around it.
  if (reason === "usage" && vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri)) === undefined) {
    return [GO, FOLDER];
  }
  return CURES[reason] ?? (MILD.has(reason) ? [] : [LOG]);
}

export const register: Register = (host) => {
  host.onClient((client) => {
    client.onNotification(METHODS.refused, (params: RefusedParams) => host.problems.show(refusal(params)));
  });
  const look = (folders: readonly vscode.WorkspaceFolder[]): void => {
    folders.filter((folder) => folder.uri.scheme !== "file").forEach((folder) => host.problems.show(remote(folder)));
  };
  look(vscode.workspace.workspaceFolders ?? []);
  host.context.subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders((change) => look(change.added)));
};
