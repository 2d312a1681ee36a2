// Answers the server with the editor's own language model; the only file that uses `vscode.lm`.

import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import type { Host, RegisterFeature } from "../host";
import type { Button } from "../problem";
import { type CompleteParams, type CompleteResult, type CompletingParams, METHODS } from "../protocol";
import { warn } from "../serverRequests";

const CHOSEN_MODEL = "greenloop.editorModel";
const NO_MODEL =
  "The editor has no language model; install an extension that provides one, such as GitHub Copilot, or choose another model.";
const NO_MODEL_BUTTONS: readonly Button[] = [
  { title: "Choose Model", command: "greenloop.choose.model" },
  { title: "Find Extensions", command: "workbench.extensions.search", arguments: ["copilot"] },
];
const JUSTIFICATION = "greenloop asks this model for code that makes your tests pass.";
/** Limit for counting tokens: an answer does not wait for a number that is only displayed. */
const COUNT_TIMEOUT_MS = 1000;

type OnPiece = (text: string) => Promise<void>;

/** Editors derived from VS Code may lack the API. */
async function listModels(): Promise<vscode.LanguageModelChat[]> {
  const { lm } = vscode as { lm?: typeof vscode.lm };
  return (await lm?.selectChatModels()) ?? [];
}

/** Lets the user choose one of the editor's models; false if none was chosen. */
export async function chooseEditorModel(host: Host): Promise<boolean> {
  const models = await listModels();
  if (models.length === 0) {
    warn(host, "model", NO_MODEL, ...NO_MODEL_BUTTONS);
    return false;
  }
  const [only] = models;
  if (models.length === 1 && only !== undefined) {
    await host.context.globalState.update(CHOSEN_MODEL, only.id);
    return true;
  }
  const items = models.map((model) => ({
    label: model.name,
    description: `${model.vendor}/${model.family}`,
    detail: `context of ${model.maxInputTokens} tokens`,
    id: model.id,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "greenloop: Choose the Editor's Model" });
  if (picked === undefined) {
    return false;
  }
  await host.context.globalState.update(CHOSEN_MODEL, picked.id);
  return true;
}

async function currentModel(host: Host): Promise<vscode.LanguageModelChat> {
  const chosenId = host.context.globalState.get<string>(CHOSEN_MODEL);
  const models = await listModels();
  const model = models.find((each) => each.id === chosenId) ?? models[0];
  if (model === undefined) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, NO_MODEL);
  }
  return model;
}

async function complete(
  host: Host, params: CompleteParams, token: vscode.CancellationToken, onPiece: OnPiece,
): Promise<CompleteResult> {
  const model = await currentModel(host);
  const messages = params.messages.map(({ role, content }) =>
    // The API has no system messages.
    role === "assistant" ? vscode.LanguageModelChatMessage.Assistant(content) : vscode.LanguageModelChatMessage.User(content),
  );
  const options = { temperature: params.temperature, max_tokens: params.maxTokens };
  const text = await sendPrompt(model, messages, options, token, onPiece);
  const promptTexts = params.messages.map((message) => message.content);
  const [promptTokens, completionTokens] = await Promise.all([countTokens(model, promptTexts), countTokens(model, [text])]);
  return { text, model: `${model.vendor}/${model.id}`, promptTokens, completionTokens };
}

/** Some models reject options, or spend all of `max_tokens` on thinking: an empty answer is retried without options. */
async function sendPrompt(
  model: vscode.LanguageModelChat,
  messages: vscode.LanguageModelChatMessage[],
  modelOptions: Record<string, unknown> | undefined,
  token: vscode.CancellationToken,
  onPiece: OnPiece,
): Promise<string> {
  let text = "";
  let failure: unknown;
  try {
    const options = { justification: JUSTIFICATION, ...(modelOptions && { modelOptions }) };
    const response = await model.sendRequest(messages, options, token);
    for await (const part of response.text) {
      text += part;
      await onPiece(part);
    }
  } catch (error) {
    failure = error;
  }
  if (token.isCancellationRequested) {
    throw new ResponseError(LSPErrorCodes.RequestCancelled, "Cancelled.");
  }
  if (text === "" && modelOptions !== undefined && !(failure instanceof vscode.LanguageModelError)) {
    return sendPrompt(model, messages, undefined, token, onPiece);
  }
  if (failure !== undefined) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, describeError(failure, model.name));
  }
  return text;
}

/** Describes an error in one sentence; the server adds the remedy. */
function describeError(error: unknown, model: string): string {
  const message = error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
  const cause = message === "" ? "" : `: ${message.replace(/\.+$/, "")}`;
  const code = error instanceof vscode.LanguageModelError ? error.code : "";
  if (code === vscode.LanguageModelError.NoPermissions.name) {
    return `You have not allowed greenloop to use ${model}; refine again to be asked once more.`;
  }
  if (code === vscode.LanguageModelError.NotFound.name) {
    return `${model} is no longer available in the editor.`;
  }
  if (code === vscode.LanguageModelError.Blocked.name || /quota|rate.?limit/i.test(`${code} ${message}`)) {
    return `${model} does not accept requests at the moment (blocked, or its quota is used up)${cause}.`;
  }
  return `${model} did not answer${cause}.`;
}

async function countTokens(model: vscode.LanguageModelChat, texts: string[]): Promise<number | null> {
  const timeout = new Promise<null>((resolve) => setTimeout(resolve, COUNT_TIMEOUT_MS, null));
  const sum = Promise.all(texts.map((text) => model.countTokens(text))).then(
    (counts) => counts.reduce((all, count) => all + count, 0) || null,
    () => null,
  );
  return Promise.race([sum, timeout]);
}

export const register: RegisterFeature = (host) => {
  host.onClientCreated((client) => {
    client.onRequest(METHODS.complete, (params: CompleteParams, token: vscode.CancellationToken) =>
      complete(host, params, token, (text) =>
        client.sendNotification(METHODS.completing, { id: params.id, text } satisfies CompletingParams),
      ),
    );
  });
};
