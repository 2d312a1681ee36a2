// Shows why the server refused a request, with buttons that fix it; also reports folders that it cannot work in.

import * as vscode from "vscode";

import type { RegisterFeature } from "../host";
import type { Button, Problem } from "../problem";
import { METHODS, type RefusedParams } from "../protocol";
import { SHOW_LOG, unsupportedFolder } from "../startupProblems";

const CHOOSE_MODEL: Button = { title: "Choose Model", command: "greenloop.choose.model" };
const SET_KEY: Button = { title: "Set API Key", command: "greenloop.keys.set" };
const DOWNLOAD_MODEL: Button = { title: "Download Embedded Model", command: "greenloop.run.pullModel" };
const DOCTOR: Button = { title: "Check Installation", command: "greenloop.run.doctor" };
const OPEN_SETTINGS: Button = {
  title: "Open Settings",
  command: "workbench.action.openSettings",
  arguments: ["@ext:greenloop.greenloop"],
};
const GO_TO_FUNCTION: Button = { title: "Go to Function…", command: "workbench.action.gotoSymbol" };
const OPEN_FOLDER: Button = { title: "Open Folder…", command: "workbench.action.files.openFolder" };
const SAVE_AS: Button = { title: "Save As…", command: "workbench.action.files.saveAs" };
const REFINE_AGAIN: Button = { title: "Refine Again", command: "greenloop.here.refine" };

/** Buttons for each reason of the server. For unknown reasons there is the log. */
const BUTTONS: Readonly<Record<string, readonly Button[]>> = {
  model: [CHOOSE_MODEL, DOWNLOAD_MODEL],
  "cannot-verify": [DOCTOR],
  environment: [DOCTOR, OPEN_SETTINGS],
  settings: [OPEN_SETTINGS],
  usage: [GO_TO_FUNCTION],
  workspace: [DOCTOR, SHOW_LOG],
  changed: [REFINE_AGAIN],
  seconds: [OPEN_SETTINGS],
  tokens: [OPEN_SETTINGS],
  cost: [OPEN_SETTINGS],
};
/** Reasons whose message stays until it is answered: the user has to choose. */
const STAYING = new Set(["model"]);
/** Reasons that are not errors. */
const HARMLESS = new Set(["already-green", "changed", "cancelled"]);

export function refusalProblem(params: RefusedParams): Problem {
  const message = [params.message, params.remedy].filter((part) => part !== "").join(" ");
  return { reason: params.reason, message, buttons: buttonsFor(params), severity: severityOf(params.reason) };
}

/** VS Code hides a message after some seconds unless it is an error with buttons. */
function severityOf(reason: string): NonNullable<Problem["severity"]> {
  return STAYING.has(reason) ? "error" : HARMLESS.has(reason) ? "information" : "warning";
}

function buttonsFor({ reason, message, remedy, uri }: RefusedParams): readonly Button[] {
  if (reason === "model" && /\bGive the editor (a|another) key\b/.test(`${message} ${remedy}`)) {
    return [SET_KEY, CHOOSE_MODEL];
  }
  if (reason === "usage" && uri.startsWith("untitled:")) {
    return [SAVE_AS];
  }
  // A file outside every folder may belong to no project.
  if (reason === "usage" && vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri)) === undefined) {
    return [GO_TO_FUNCTION, OPEN_FOLDER];
  }
  return BUTTONS[reason] ?? (HARMLESS.has(reason) ? [] : [SHOW_LOG]);
}

export const register: RegisterFeature = (host) => {
  host.onClientCreated((client) => {
    client.onNotification(METHODS.refused, (params: RefusedParams) => host.problems.show(refusalProblem(params)));
  });
  const reportUnsupported = (folders: readonly vscode.WorkspaceFolder[]): void => {
    folders.filter((folder) => folder.uri.scheme !== "file").forEach((folder) => host.problems.show(unsupportedFolder(folder)));
  };
  reportUnsupported(vscode.workspace.workspaceFolders ?? []);
  host.context.subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders((change) => reportUnsupported(change.added)));
};
