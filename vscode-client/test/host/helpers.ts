// Defines tests of the extension host, and helpers that act and observe through VS Code's API.

import * as fs from "node:fs";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Api } from "../../src/host";
import type { Problem } from "../../src/problem";
import type { WindowRequest } from "../support/bridge";
import { writeFiles } from "../support/paths";
import { modelScript } from "../support/projects";
import { until } from "../support/until";

interface Test {
  name: string;
  run: () => Promise<void>;
  isStory: boolean;
}

export const tests: Test[] = [];

export function test(name: string, run: () => Promise<void>): void {
  tests.push({ name, run, isStory: false });
}

/** A test that shows a promise, and is among those of `npm test stories`. */
export function story(name: string, run: () => Promise<void>): void {
  tests.push({ name, run, isStory: true });
}

export function projectFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error("no folder is open");
  return folder.uri.fsPath;
}

export function uri(name: string): vscode.Uri {
  return vscode.Uri.file(path.join(projectFolder(), name));
}

/** Sets the model's next answers, and writes files into the project. */
export function prepareProject(answers: string[], files: Record<string, string> = {}): void {
  const file = process.env["GREENLOOP_TEST_SCRIPT"];
  if (file === undefined) throw new Error("no scripted model");
  fs.writeFileSync(file, modelScript(...answers));
  writeFiles(projectFolder(), files);
}

/** Creates the file that code of `waitingFunction` waits for. */
export function createGate(name: string): string {
  const file = path.join(projectFolder(), `${name}.gate`);
  fs.writeFileSync(file, "");
  return file;
}

export function openGate(name: string): void {
  fs.writeFileSync(path.join(projectFolder(), `${name}.gate`), "go");
}

export async function openFile(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri(name)), { preview: false });
}

export function diagnostics(name: string): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri(name));
}

export async function waitForDiagnostic(name: string, text: string): Promise<vscode.Diagnostic> {
  const matching = (): vscode.Diagnostic | undefined =>
    diagnostics(name).find((each) => `${each.source ?? ""} ${each.message}`.includes(text));
  return until(`diagnostic with "${text}"`, matching, () => diagnostics(name));
}

export async function waitForNoDiagnostics(name: string): Promise<void> {
  await until(`end of the diagnostics of ${name}`, () => diagnostics(name).length === 0, () => diagnostics(name));
}

export async function waitForText(document: vscode.TextDocument, text: string): Promise<void> {
  await until(`text\n${text}`, () => document.getText() === text, () => document.getText());
}

/** Waits until a line has a code action with this title, and returns all of its code actions. */
export async function codeActions(name: string, line: number, title: string, kind?: string): Promise<vscode.CodeAction[]> {
  const range = new vscode.Range(line - 1, 0, line - 1, 1);
  let last: vscode.CodeAction[] = [];
  return until(
    `action "${title}"`,
    async () => {
      try {
        last = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", uri(name), range, ...(kind === undefined ? [] : [kind]));
      } catch (error) {
        // VS Code cancels the question when a provider registers meanwhile, as while the server starts.
        if (error instanceof Error && error.name === "Canceled") return undefined;
        throw error;
      }
      return last.some((each) => each.title.startsWith(title)) ? last : undefined;
    },
    () => last.map((each) => each.title),
  );
}

/** Runs a code action; returns the titles of all that were offered with it. */
export async function applyCodeAction(name: string, line: number, title: string): Promise<string[]> {
  const offered = await codeActions(name, line, title);
  const chosen = offered.find((each) => each.title.startsWith(title));
  if (chosen?.edit) await vscode.workspace.applyEdit(chosen.edit);
  if (chosen?.command) {
    await vscode.commands.executeCommand(chosen.command.command, ...((chosen.command.arguments ?? []) as unknown[]));
  }
  return offered.map((each) => each.title);
}

export async function undo(name: string): Promise<void> {
  await openFile(name);
  await vscode.commands.executeCommand("undo");
}

/** Asks the program that drives the window. */
export async function askWindow(action: WindowRequest["action"], text: string, button?: string): Promise<string> {
  // While tests run, VS Code shows messages in their list only.
  if (action === "see" || action === "press") await vscode.commands.executeCommand("notifications.showList");
  const url = process.env["GREENLOOP_TEST_BRIDGE"];
  if (url === undefined) throw new Error("no window answers");
  const reply = await fetch(url, { method: "POST", body: JSON.stringify({ action, text, button }) });
  const { value, error } = (await reply.json()) as { value?: string; error?: string };
  if (error !== undefined) throw new Error(`${action} "${text}": ${error}`);
  return value ?? "";
}

/** Sets one of the user's settings; undefined removes it. */
export async function updateSetting(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("greenloop").update(key, value, vscode.ConfigurationTarget.Global);
}

/** Sets one of the server's settings, and waits until the server has read it. */
export async function updateServerSetting(key: string, value: unknown): Promise<void> {
  const { host } = await extensionApi();
  const { workspace } = host.middleware;
  const original = workspace?.configuration;
  if (workspace === undefined || original === undefined) throw new Error("the extension does not handle settings requests");
  const settingsRead = new Promise<void>((resolve) => {
    workspace.configuration = async (...args) => {
      const answer = await original(...args);
      resolve();
      return answer;
    };
  });
  await updateSetting(key, value);
  await settingsRead;
  workspace.configuration = original;
  // This request is answered after the server has applied the settings.
  await host.client()?.sendRequest("greenloop/choices", { uri: uri("pyproject.toml").toString() });
}

/** Waits until the server is ready, and returns the extension's API. */
export async function extensionApi(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>("greenloop.greenloop");
  if (!extension) throw new Error("the packaged extension is not installed");
  const api = await extension.activate();
  await api.ready;
  return api;
}

/** Waits for a problem that was shown after the first `from` ones. */
export async function waitForProblem(reason: string, from: number): Promise<Problem> {
  const { problems } = (await extensionApi()).host;
  return until(`message ${reason}`, () => problems.history.slice(from).find((each) => each.reason === reason), () => problems.history);
}

/** The rows of the attempts view, as the window shows them. */
export async function attemptRows(): Promise<string[]> {
  await vscode.commands.executeCommand("greenloop.attempts.focus");
  return JSON.parse(await askWindow("tree", "")) as string[];
}
