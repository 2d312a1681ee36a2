// Lets the user choose a model or a preset: the server lists them, and the choice is saved in a setting.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";
import { type Choice, type Choices, METHODS } from "../protocol";
import { request } from "../serverRequests";
import { askKey, askProvider, exampleModel, hasKey, providerLabel } from "./apiKeys";
import { chooseEditorModel } from "./editorModel";

const LOCAL = "local";
const EDITOR = "editor";
const BY_KEY_TITLE = "greenloop: Model with an API Key";

interface ModelItem extends vscode.QuickPickItem {
  /** Does what the choice requires first. Returns the name to set, or undefined if the user cancelled. */
  prepare(): Promise<string | undefined>;
}

function requestChoices(host: Host): Promise<Choices | undefined> {
  const uri = (vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri)?.toString();
  return request<Choices>(host, METHODS.choices, uri === undefined ? {} : { uri });
}

function modelLabel(name: string): string {
  if (name === LOCAL) {
    return "$(chip) Embedded model";
  }
  if (name === EDITOR) {
    return "$(sparkle) Editor's own model";
  }
  return name.startsWith("ollama/") ? `$(server) ${name.slice("ollama/".length)} (Ollama)` : `$(hubot) ${name}`;
}

function modelItem(host: Host, { name, about }: Choice, current: string): ModelItem {
  // A provider whose key is in the server's environment: only the model's name is missing.
  const provider = name.endsWith("/") ? name.slice(0, -1) : undefined;
  return {
    label: provider === undefined ? modelLabel(name) : `$(key) ${providerLabel(provider)}…`,
    detail: about,
    ...(name === current && { description: "current" }),
    prepare: async () => {
      if (provider !== undefined) {
        return askModelName(provider);
      }
      return name === EDITOR && !(await chooseEditorModel(host)) ? undefined : name;
    },
  };
}

/** Asks for a provider, its key unless one is stored, and a model. */
async function chooseByKey(host: Host): Promise<string | undefined> {
  const provider = await askProvider(BY_KEY_TITLE);
  if (provider === undefined || !((await hasKey(host, provider)) || (await askKey(host, provider)))) {
    return undefined;
  }
  return askModelName(provider);
}

async function askModelName(provider: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: BY_KEY_TITLE,
    prompt: `The model's name at ${providerLabel(provider)}.`,
    placeHolder: exampleModel(provider),
    ignoreFocusOut: true,
    validateInput: (text) => (/^\S+$/.test(text.trim()) ? undefined : "Enter one name without spaces."),
  });
  return name === undefined ? undefined : `${provider}/${name.trim()}`;
}

async function chooseModel(host: Host): Promise<void> {
  const choices = await requestChoices(host);
  if (choices === undefined) {
    return;
  }
  const items: ModelItem[] = [
    ...choices.models.map((choice) => modelItem(host, choice, choices.model)),
    { label: "$(key) With an API key…", detail: "A provider's model; the key is kept in the editor's secret storage.", prepare: () => chooseByKey(host) },
    {
      label: "$(wand) Automatic",
      detail: "The embedded model if it is downloaded, otherwise a local Ollama; never a model that costs money.",
      ...(choices.model === "" && { description: "current" }),
      prepare: () => Promise.resolve(""),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: "greenloop: Choose Model", matchOnDetail: true, placeHolder: "The model that writes the code",
  });
  const name = await picked?.prepare();
  if (picked === undefined || name === undefined) {
    return;
  }
  await updateSetting("model", name);
  const needs = choices.models.find((choice) => choice.name === name)?.needs;
  if (needs === "pull") {
    await offerCommand("The embedded model is not downloaded yet (1.1 GB, once).", "Download", "greenloop.run.pullModel");
  } else if (needs === "install") {
    await offerCommand("The embedded model's engine is not installed.", "Install…", "greenloop.run.install");
  }
}

async function offerCommand(message: string, button: string, command: string): Promise<void> {
  if ((await vscode.window.showInformationMessage(message, button, "Later")) === button) {
    await vscode.commands.executeCommand(command);
  }
}

async function choosePreset(host: Host): Promise<void> {
  const choices = await requestChoices(host);
  const items = choices?.presets.map(({ name, about }) => ({
    label: name, detail: about, ...(name === choices.preset && { description: "current" }),
  }));
  if (items === undefined) {
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { title: "greenloop: Choose Preset", matchOnDetail: true });
  if (picked !== undefined) {
    await updateSetting("preset", picked.label);
  }
}

/** Writes to the workspace if it has a value, which would win; else for the user. "" removes the value. */
async function updateSetting(key: "model" | "preset", name: string): Promise<void> {
  const section = vscode.workspace.getConfiguration("greenloop");
  const inWorkspace = section.inspect(key)?.workspaceValue !== undefined;
  const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await section.update(key, name === "" ? undefined : name, target);
  vscode.window.setStatusBarMessage(`greenloop: ${key} ${name || "automatic"}, starting with the next refinement`, 5000);
}

export const register: RegisterFeature = (host) => {
  host.context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.choose.model", () => chooseModel(host)),
    vscode.commands.registerCommand("greenloop.choose.preset", () => choosePreset(host)),
  );
};
