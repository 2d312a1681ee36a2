// Choosing a model or a preset: the server says what there is, the choice becomes a setting of the user's.

import * as vscode from "vscode";

import { request } from "../ask";
import type { Host, Register } from "../host";
import { type Choice, type Choices, METHODS } from "../protocol";
import { chooseEditorModel } from "./editorModel";
import { askKey, askProvider, exampleOf, hasKey, labelOf } from "./secrets";

const LOCAL = "local";
const EDITOR = "editor";
const BY_KEY = "greenloop: a model by key";

interface Item extends vscode.QuickPickItem {
  /** Does what the choice needs first; the name to set, undefined when the user left it. */
  prepare(): Promise<string | undefined>;
}

function choices(host: Host): Promise<Choices | undefined> {
  const uri = (vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri)?.toString();
  return request<Choices>(host, METHODS.choices, uri === undefined ? {} : { uri });
}

function label(name: string): string {
  if (name === LOCAL) {
    return "$(chip) Embedded model";
  }
  if (name === EDITOR) {
    return "$(sparkle) The editor's own model";
  }
  return name.startsWith("ollama/") ? `$(server) ${name.slice("ollama/".length)} (Ollama)` : `$(hubot) ${name}`;
}

function item(host: Host, { name, about }: Choice, current: string): Item {
  // A provider whose key is in the server's environment: only its model is to be named.
  const provider = name.endsWith("/") ? name.slice(0, -1) : undefined;
  return {
    label: provider === undefined ? label(name) : `$(key) ${labelOf(provider)}…`,
    detail: about,
    ...(name === current && { description: "current" }),
    prepare: async () => {
      if (provider !== undefined) {
        return modelOf(provider);
      }
      return name === EDITOR && !(await chooseEditorModel(host)) ? undefined : name;
    },
  };
}

/** A provider's model, after its key unless that is kept already. */
async function byKey(host: Host): Promise<string | undefined> {
  const provider = await askProvider(BY_KEY);
  if (provider === undefined || !((await hasKey(host, provider)) || (await askKey(host, provider)))) {
    return undefined;
  }
  return modelOf(provider);
}

async function modelOf(provider: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: BY_KEY,
    prompt: `The model's name, as ${labelOf(provider)} writes it.`,
    placeHolder: exampleOf(provider),
    ignoreFocusOut: true,
    validateInput: (text) => (/^\S+$/.test(text.trim()) ? undefined : "One name without spaces."),
  });
  return name === undefined ? undefined : `${provider}/${name.trim()}`;
}

async function chooseModel(host: Host): Promise<void> {
  const found = await choices(host);
  if (found === undefined) {
    return;
  }
  const items: Item[] = [
    ...found.models.map((choice) => item(host, choice, found.model)),
    { label: "$(key) By key…", detail: "A provider's model; the key stays in the editor's secret storage.", prepare: () => byKey(host) },
    {
      label: "$(wand) Automatic",
      detail: "The embedded model where it is, else a local Ollama; never one that costs money.",
      ...(found.model === "" && { description: "current" }),
      prepare: () => Promise.resolve(""),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: "greenloop: which model?", matchOnDetail: true, placeHolder: "Who writes the candidates",
  });
  const name = await picked?.prepare();
  if (picked === undefined || name === undefined) {
    return;
  }
  await set("model", name);
  const needs = found.models.find((choice) => choice.name === name)?.needs;
  if (needs === "pull") {
    await offer("The embedded model is not here yet: 1.1 GB, fetched once.", "Fetch It", "greenloop.run.pullModel");
  } else if (needs === "install") {
    await offer("The embedded model's engine is not installed.", "Install…", "greenloop.run.install");
  }
}

async function offer(said: string, button: string, command: string): Promise<void> {
  if ((await vscode.window.showInformationMessage(said, button, "Later")) === button) {
    await vscode.commands.executeCommand(command);
  }
}

async function choosePreset(host: Host): Promise<void> {
  const found = await choices(host);
  const items = found?.presets.map(({ name, about }) => ({
    label: name, detail: about, ...(name === found.preset && { description: "current" }),
  }));
  if (items === undefined) {
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { title: "greenloop: which preset?", matchOnDetail: true });
  if (picked !== undefined) {
    await set("preset", picked.label);
  }
}

/** For the user, unless the workspace has a word of its own, which would win; "" takes the setting back. */
async function set(key: "model" | "preset", name: string): Promise<void> {
  const section = vscode.workspace.getConfiguration("greenloop");
  const inWorkspace = section.inspect(key)?.workspaceValue !== undefined;
  const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await section.update(key, name === "" ? undefined : name, target);
  vscode.window.setStatusBarMessage(`greenloop: ${key} ${name || "automatic"}, from the next refinement on`, 5000);
}

export const register: Register = (host) => {
  host.context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.choose.model", () => chooseModel(host)),
    vscode.commands.registerCommand("greenloop.choose.preset", () => choosePreset(host)),
  );
};
