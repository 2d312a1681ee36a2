// The sample project with a red test: a copy of the user's own, opened at its test.

import * as vscode from "vscode";

import type { Host, Register } from "../host";

const FOLDER = "greenloop-sample";
const FILE = "test_fibonacci.py";
const TEST = "test_one";
/** Where the window that opens next shall show the test. */
const OPENED = "greenloop.sample";

async function place(host: Host): Promise<vscode.Uri | undefined> {
  const own = { label: "$(archive) In greenloop's own storage", own: true };
  const other = { label: "$(folder) In a folder…", own: false };
  const picked = await vscode.window.showQuickPick([own, other], { title: "greenloop: where shall the sample go?" });
  if (picked === undefined) {
    return undefined;
  }
  if (picked.own) {
    return vscode.Uri.joinPath(host.context.globalStorageUri, FOLDER);
  }
  const chosen = await vscode.window.showOpenDialog({
    title: "Folder for greenloop's sample", openLabel: "Put It Here", canSelectFiles: false, canSelectFolders: true,
  });
  return chosen?.[0] === undefined ? undefined : free(chosen[0]);
}

/** A name that is not taken: nothing of the user's is overwritten. */
async function free(parent: vscode.Uri): Promise<vscode.Uri> {
  const taken = new Set((await vscode.workspace.fs.readDirectory(parent)).map(([name]) => name));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? FOLDER : `${FOLDER}-${number}`;
    if (!taken.has(name)) {
      return vscode.Uri.joinPath(parent, name);
    }
  }
}

async function open(host: Host): Promise<void> {
  const folder = await place(host);
  if (folder === undefined) {
    return;
  }
  // File by file: the folder itself may be open in a window.
  const source = vscode.Uri.joinPath(host.context.extensionUri, "sample");
  await vscode.workspace.fs.createDirectory(folder);
  for (const [name] of await vscode.workspace.fs.readDirectory(source)) {
    const [from, to] = [vscode.Uri.joinPath(source, name), vscode.Uri.joinPath(folder, name)];
    await vscode.workspace.fs.copy(from, to, { overwrite: true });
  }
  await host.context.globalState.update(OPENED, folder.toString());
  if (await show(host)) {
    return;
  }
  const forceNewWindow = (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
  await vscode.commands.executeCommand("vscode.openFolder", folder, { forceNewWindow });
}

/** In the window of the sample: its red test, once. */
async function show(host: Host): Promise<boolean> {
  const opened = host.context.globalState.get<string>(OPENED);
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.toString() === opened);
  if (folder === undefined) {
    return false;
  }
  await host.context.globalState.update(OPENED, undefined);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, FILE));
  const at = document.positionAt(document.getText().indexOf(TEST));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at), preview: false });
  return true;
}

export const register: Register = (host) => {
  host.context.subscriptions.push(vscode.commands.registerCommand("greenloop.sample.open", () => open(host)));
  void show(host).then(undefined, (error: unknown) => host.log.warn(`The sample's test cannot be shown: ${String(error)}`));
};
