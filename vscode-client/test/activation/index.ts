// Runs inside the extension host: prints the activation times that VS Code measured.

import * as vscode from "vscode";

import { until } from "../support/until";

const ID = "greenloop.greenloop";

/** The extension's row in "Developer: Startup Performance": name, eager, load, call, finish, event, by. */
async function statisticsRow(): Promise<string[]> {
  const documents = (): vscode.TextDocument | undefined =>
    vscode.workspace.textDocuments.find((each) => each.getText().includes("Extension Activation Stats"));
  const document = await until("page of the startup's times", documents, () =>
    vscode.workspace.textDocuments.map((each) => each.uri.toString()),
  );
  const line = document.getText().split("\n").find((each) => each.includes(ID));
  return (line ?? "").split("|").map((cell) => cell.trim());
}

export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension(ID);
  // Not activated from here, but by the project's files, as for a user.
  await until("activation", () => extension?.isActive);
  await vscode.commands.executeCommand("perfview.show");
  const cells = await statisticsRow();
  const idColumn = cells.indexOf(ID);
  const [load = NaN, call = NaN, finish = NaN] = cells.slice(idColumn + 2, idColumn + 5).map(Number);
  console.log(`activation ${JSON.stringify({ load, call, finish })}`);
}
