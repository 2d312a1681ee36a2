// The sample project with a failing test: copied for the user, and opened at the test.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";

const FOLDER_NAME = "greenloop-sample";
const TEST_FILE = "test_fibonacci.py";
const TEST_NAME = "test_one";
/** The folder whose window, opened next, is to show the test. */
const OPENED_SAMPLE = "greenloop.sample";

async function chooseFolder(host: Host): Promise<vscode.Uri | undefined> {
  const storage = { label: "$(archive) In greenloop's storage", isStorage: true };
  const elsewhere = { label: "$(folder) In a folder…", isStorage: false };
  const picked = await vscode.window.showQuickPick([storage, elsewhere], { title: "greenloop: Copy the Sample" });
  if (picked === undefined) {
    return undefined;
  }
  if (picked.isStorage) {
    return vscode.Uri.joinPath(host.context.globalStorageUri, FOLDER_NAME);
  }
  const chosen = await vscode.window.showOpenDialog({
    title: "Folder for greenloop's sample", openLabel: "Copy Here", canSelectFiles: false, canSelectFolders: true,
  });
  return chosen?.[0] === undefined ? undefined : unusedFolder(chosen[0]);
}

/** Finds a name that is not taken, so that nothing is overwritten. */
async function unusedFolder(parent: vscode.Uri): Promise<vscode.Uri> {
  const taken = new Set((await vscode.workspace.fs.readDirectory(parent)).map(([name]) => name));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? FOLDER_NAME : `${FOLDER_NAME}-${number}`;
    if (!taken.has(name)) {
      return vscode.Uri.joinPath(parent, name);
    }
  }
}

async function openSample(host: Host): Promise<void> {
  const folder = await chooseFolder(host);
  if (folder === undefined) {
    return;
  }
  // File by file, because the folder itself may be open in a window.
  const source = vscode.Uri.joinPath(host.context.extensionUri, "sample");
  await vscode.workspace.fs.createDirectory(folder);
  for (const [name] of await vscode.workspace.fs.readDirectory(source)) {
    const [from, to] = [vscode.Uri.joinPath(source, name), vscode.Uri.joinPath(folder, name)];
    await vscode.workspace.fs.copy(from, to, { overwrite: true });
  }
  await host.context.globalState.update(OPENED_SAMPLE, folder.toString());
  if (await showTest(host)) {
    return;
  }
  const forceNewWindow = (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
  await vscode.commands.executeCommand("vscode.openFolder", folder, { forceNewWindow });
}

/** Shows the failing test once, in the window of the sample. */
async function showTest(host: Host): Promise<boolean> {
  const opened = host.context.globalState.get<string>(OPENED_SAMPLE);
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.toString() === opened);
  if (folder === undefined) {
    return false;
  }
  await host.context.globalState.update(OPENED_SAMPLE, undefined);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, TEST_FILE));
  const position = document.positionAt(document.getText().indexOf(TEST_NAME));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(position, position), preview: false });
  return true;
}

export const register: RegisterFeature = (host) => {
  host.context.subscriptions.push(vscode.commands.registerCommand("greenloop.sample.open", () => openSample(host)));
  void showTest(host).then(undefined, (error: unknown) => host.log.warn(`Could not show the sample's test: ${String(error)}`));
};
