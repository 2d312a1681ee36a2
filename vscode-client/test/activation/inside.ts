// Runs inside the extension host: what VS Code itself measured of the activation goes to standard output.

import * as vscode from "vscode";

import { until } from "../support/until";

const ID = "greenloop.greenloop";

/** The row of the extension in "Developer: Startup Performance": name, eager, load, call, finish, event, by. */
async function row(): Promise<string[]> {
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
  // It is not activated from here: the project's files do that, as for a user.
  await until("activation", () => extension?.isActive);
  await vscode.commands.executeCommand("perfview.show");
  const cells = await row();
  const at = cells.indexOf(ID);
  const [load = NaN, call = NaN, finish = NaN] = cells.slice(at + 2, at + 5).map(Number);
  console.log(`activation ${JSON.stringify({ load, call, finish })}`);
}
