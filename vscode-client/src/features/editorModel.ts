// The editor's own language model answers the server; the only file that touches `vscode.lm`.

import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import { warn } from "../ask";
import type { Host, Register } from "../host";
import type { Button } from "../problem";
import { type CompleteParams, type CompleteResult, type CompletingParams, METHODS } from "../protocol";

const REMEMBERED = "greenloop.editorModel";
const NONE =
  "The editor has no language model; install one such as GitHub Copilot, or choose another model.";
const CURES: readonly Button[] = [
  { title: "Choose Model", command: "greenloop.choose.model" },
  { title: "Find Extensions", command: "workbench.extensions.search", arguments: ["copilot"] },
];
const JUSTIFICATION = "greenloop asks it for code that makes your tests pass.";
/** Milliseconds that counting tokens may take: the answer does not wait for a number that is only shown. */
const COUNTING = 1000;

type Piece = (text: string) => Promise<void>;

/** Editors that are made from VS Code may lack the API. */
async function available(): Promise<vscode.LanguageModelChat[]> {
  const { lm } = vscode as { lm?: typeof vscode.lm };
  return (await lm?.selectChatModels()) ?? [];
}

/** Which of the editor's models to ask from now on; false when none was chosen. */
export async function chooseEditorModel(host: Host): Promise<boolean> {
  const models = await available();
  if (models.length === 0) {
    warn(host, "model", NONE, ...CURES);
    return false;
  }
  const [only] = models;
  if (models.length === 1 && only !== undefined) {
    await host.context.globalState.update(REMEMBERED, only.id);
    return true;
  }
  const items = models.map((model) => ({
    label: model.name,
    description: `${model.vendor}/${model.family}`,
    detail: `${model.maxInputTokens} tokens of context`,
    id: model.id,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "greenloop: which of the editor's models?" });
  if (picked === undefined) {
    return false;
  }
  await host.context.globalState.update(REMEMBERED, picked.id);
  return true;
}

async function current(host: Host): Promise<vscode.LanguageModelChat> {
  const remembered = host.context.globalState.get<string>(REMEMBERED);
  const models = await available();
  const model = models.find((each) => each.id === remembered) ?? models[0];
  if (model === undefined) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, NONE);
  }
  return model;
}

async function complete(
  host: Host, params: CompleteParams, token: vscode.CancellationToken, piece: Piece,
): Promise<CompleteResult> {
  const model = await current(host);
  const messages = params.messages.map(({ role, content }) =>
    // The API knows no system messages.
    role === "assistant" ? vscode.LanguageModelChatMessage.Assistant(content) : vscode.LanguageModelChatMessage.User(content),
  );
  const options = { temperature: params.temperature, max_tokens: params.maxTokens };
  const text = await asked(model, messages, options, token, piece);
  const prompt = params.messages.map((message) => message.content);
  const [promptTokens, completionTokens] = await Promise.all([counted(model, prompt), counted(model, [text])]);
  return { text, model: `${model.vendor}/${model.id}`, promptTokens, completionTokens };
}

/** Some models take no options, or spend all of `max_tokens` on thinking: where nothing came, they are asked without. */
async function asked(
  model: vscode.LanguageModelChat,
  messages: vscode.LanguageModelChatMessage[],
  modelOptions: Record<string, unknown> | undefined,
  token: vscode.CancellationToken,
  piece: Piece,
): Promise<string> {
  let text = "";
  let problem: unknown;
  try {
    const options = { justification: JUSTIFICATION, ...(modelOptions && { modelOptions }) };
    const response = await model.sendRequest(messages, options, token);
    for await (const part of response.text) {
      text += part;
      await piece(part);
    }
  } catch (error) {
    problem = error;
  }
  if (token.isCancellationRequested) {
    throw new ResponseError(LSPErrorCodes.RequestCancelled, "Cancelled.");
  }
  if (text === "" && modelOptions !== undefined && !(problem instanceof vscode.LanguageModelError)) {
    return asked(model, messages, undefined, token, piece);
  }
  if (problem !== undefined) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, sentence(problem, model.name));
  }
  return text;
}

/** One sentence for people; the server adds what to do about it. */
function sentence(error: unknown, model: string): string {
  const said = error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
  const because = said === "" ? "" : `: ${said.replace(/\.+$/, "")}`;
  const code = error instanceof vscode.LanguageModelError ? error.code : "";
  if (code === vscode.LanguageModelError.NoPermissions.name) {
    return `You have not allowed greenloop to use ${model}; refine again to be asked once more.`;
  }
  if (code === vscode.LanguageModelError.NotFound.name) {
    return `The editor has no ${model} any more.`;
  }
  if (code === vscode.LanguageModelError.Blocked.name || /quota|rate.?limit/i.test(`${code} ${said}`)) {
    return `${model} takes no more requests for now (blocked, or its quota is used up)${because}.`;
  }
  return `${model} did not answer${because}.`;
}

async function counted(model: vscode.LanguageModelChat, texts: string[]): Promise<number | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, COUNTING, null));
  const sum = Promise.all(texts.map((text) => model.countTokens(text))).then(
    (counts) => counts.reduce((all, count) => all + count, 0) || null,
    () => null,
  );
  return Promise.race([sum, late]);
}

export const register: Register = (host) => {
  host.onClient((client) => {
    client.onRequest(METHODS.complete, (params: CompleteParams, token: vscode.CancellationToken) =>
      complete(host, params, token, (text) =>
        client.sendNotification(METHODS.completing, { id: params.id, text } satisfies CompletingParams),
      ),
    );
  });
};
