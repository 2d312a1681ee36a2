// The tests of the extension host: how one is written, and what a program that uses VS Code's API sees.

import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Api } from "../../src/host";
import type { Asked } from "../support/bridge";
import type { Problem } from "../../src/problem";
import { write } from "../support/places";
import { script } from "../support/projects";
import { until } from "../support/until";

interface Test {
  name: string;
  run: () => Promise<void>;
}

export const tests: Test[] = [];

export function test(name: string, run: () => Promise<void>): void {
  tests.push({ name, run });
}

export function root(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error("no folder is open");
  return folder.uri.fsPath;
}

export function uri(name: string): vscode.Uri {
  return vscode.Uri.file(path.join(root(), name));
}

/** The model's answers from now on, and files on the disk. */
export function put(answers: string[], files: Record<string, string> = {}): void {
  const file = process.env["GREENLOOP_TEST_SCRIPT"];
  if (file === undefined) throw new Error("no scripted model");
  fs.writeFileSync(file, script(...answers));
  write(root(), files);
}

/** The file that code of `projects.waiting` waits for. */
export function gate(name: string): string {
  const file = path.join(root(), `${name}.gate`);
  fs.writeFileSync(file, "");
  return file;
}

export function go(name: string): void {
  fs.writeFileSync(path.join(root(), `${name}.gate`), "go");
}

export async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri(name)), { preview: false });
}

export function diagnostics(name: string): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri(name));
}

export async function shows(name: string, words: string): Promise<vscode.Diagnostic> {
  const found = (): vscode.Diagnostic | undefined =>
    diagnostics(name).find((each) => `${each.source ?? ""} ${each.message}`.includes(words));
  return until(`diagnostic with "${words}"`, found, () => diagnostics(name));
}

export async function isClear(name: string): Promise<void> {
  await until(`end of the diagnostics of ${name}`, () => diagnostics(name).length === 0, () => diagnostics(name));
}

export async function becomes(document: vscode.TextDocument, text: string): Promise<void> {
  await until(`text\n${text}`, () => document.getText() === text, () => document.getText());
}

/** The code actions of a line, once one is called so. */
export async function actions(name: string, line: number, title: string, kind?: string): Promise<vscode.CodeAction[]> {
  const range = new vscode.Range(line - 1, 0, line - 1, 1);
  let last: vscode.CodeAction[] = [];
  return until(
    `action "${title}"`,
    async () => {
      last = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", uri(name), range, ...(kind === undefined ? [] : [kind]));
      return last.some((each) => each.title.startsWith(title)) ? last : undefined;
    },
    () => last.map((each) => each.title),
  );
}

/** Chooses a code action; all that were offered with it. */
export async function act(name: string, line: number, title: string): Promise<string[]> {
  const offered = await actions(name, line, title);
  const chosen = offered.find((each) => each.title.startsWith(title));
  if (chosen?.edit) await vscode.workspace.applyEdit(chosen.edit);
  if (chosen?.command) {
    await vscode.commands.executeCommand(chosen.command.command, ...((chosen.command.arguments ?? []) as unknown[]));
  }
  return offered.map((each) => each.title);
}

export async function undo(name: string): Promise<void> {
  await open(name);
  await vscode.commands.executeCommand("undo");
}

/** Asks the window that shows this host. */
export async function ask(what: Asked["what"], words: string, button?: string): Promise<string> {
  // While tests run, VS Code keeps messages in their list.
  if (what === "see" || what === "press") await vscode.commands.executeCommand("notifications.showList");
  const url = process.env["GREENLOOP_TEST_BRIDGE"];
  if (url === undefined) throw new Error("no window answers");
  const reply = await fetch(url, { method: "POST", body: JSON.stringify({ what, words, button }) });
  const { value, error } = (await reply.json()) as { value?: string; error?: string };
  if (error !== undefined) throw new Error(`${what} "${words}": ${error}`);
  return value ?? "";
}

/** Sets a setting where a user of this machine does; undefined takes it back. */
export async function set(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("greenloop").update(key, value, vscode.ConfigurationTarget.Global);
}

/** The same for a setting of the server's; waits until the server has asked for it. */
export async function tell(key: string, value: unknown): Promise<void> {
  const { host } = await api();
  const { workspace } = host.middleware;
  const usual = workspace?.configuration;
  if (workspace === undefined || usual === undefined) throw new Error("nobody answers the server's questions for settings");
  const asked = new Promise<void>((resolve) => {
    workspace.configuration = async (...given) => {
      const answer = await usual(...given);
      resolve();
      return answer;
    };
  });
  await set(key, value);
  await asked;
  workspace.configuration = usual;
  // What the server reads after that answer is read with it.
  await host.client()?.sendRequest("greenloop/choices", { uri: uri("pyproject.toml").toString() });
}

/** What the extension gives to others; waits until its server runs. */
export async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>("greenloop.greenloop");
  if (!extension) throw new Error("the packaged extension is not installed");
  const found = await extension.activate();
  await found.ready;
  return found;
}

/** Waits for one of greenloop's own messages, shown since `from`. */
export async function told(reason: string, from: number): Promise<Problem> {
  const { problems } = (await api()).host;
  return until(`message ${reason}`, () => problems.told.slice(from).find((each) => each.reason === reason), () => problems.told);
}

/** The rows of the view of the attempts, as the window shows them. */
export async function rows(): Promise<string[]> {
  await vscode.commands.executeCommand("greenloop.attempts.focus");
  return JSON.parse(await ask("tree", "")) as string[];
}
