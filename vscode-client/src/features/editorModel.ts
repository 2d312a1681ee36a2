// Answers the server with the editor's own language model; the only file that asks one.

import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import { type Answer, readResponse, toChatMessages, toChatTools, type ToolApi, toolApi } from "../chatMessages";
import type { Host, RegisterFeature } from "../host";
import type { Button } from "../problem";
import { type CompleteParams, type CompleteResult, type CompletingParams, type Message, METHODS, type ModelInfo } from "../protocol";
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

/** What Copilot and the providers behind it say. */
const TOO_LONG = /exceeds token limit|prompt token count|prompt is too long|maximum context|context (length|window|size)/i;

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

/** Tools need classes of the API, and a model that takes them; a version that does not tell has only models that do. */
export function describeModel(model: vscode.LanguageModelChat, api: ToolApi | undefined): ModelInfo {
  const { maxInputTokens, capabilities } = model as {
    maxInputTokens?: number;
    capabilities?: { supportsToolCalling?: boolean };
  };
  return {
    maxInputTokens: maxInputTokens ?? null,
    tools: api !== undefined && capabilities?.supportsToolCalling !== false,
  };
}

export async function complete(
  model: vscode.LanguageModelChat, params: CompleteParams, token: vscode.CancellationToken, onPiece: OnPiece,
): Promise<CompleteResult> {
  const api = toolApi();
  const request: ModelRequest = {
    model,
    messages: toChatMessages(params.messages, api),
    options: {
      justification: JUSTIFICATION,
      modelOptions: { temperature: params.temperature, max_tokens: params.maxTokens },
      ...(api !== undefined && params.tools !== undefined && { tools: toChatTools(params.tools) }),
    },
  };
  const { text, toolCalls } = await send(request, api, token, onPiece);
  const [promptTokens, completionTokens] = await Promise.all([
    countTokens(model, params.messages.flatMap(textsOf)),
    countTokens(model, textsOf({ content: text, toolCalls })),
  ]);
  return { text, toolCalls, model: `${model.vendor}/${model.id}`, promptTokens, completionTokens };
}

interface ModelRequest {
  model: vscode.LanguageModelChat;
  messages: vscode.LanguageModelChatMessage[];
  options: vscode.LanguageModelChatRequestOptions & { tools?: object[] };
}

/** Some models reject model options, or spend all of `max_tokens` on thinking: an empty answer is retried without them. */
async function send(
  { model, messages, options }: ModelRequest, api: ToolApi | undefined, token: vscode.CancellationToken, onPiece: OnPiece,
): Promise<Answer> {
  const answer: Answer = { text: "", toolCalls: [] };
  let failure: unknown;
  try {
    await readResponse(await model.sendRequest(messages, options, token), api, answer, onPiece);
  } catch (error) {
    failure = error;
  }
  if (token.isCancellationRequested) {
    throw new ResponseError(LSPErrorCodes.RequestCancelled, "Cancelled.");
  }
  const { modelOptions, ...otherOptions } = options;
  const isEmpty = answer.text === "" && answer.toolCalls.length === 0;
  if (isEmpty && modelOptions !== undefined && !(failure instanceof vscode.LanguageModelError)) {
    return send({ model, messages, options: otherOptions }, api, token, onPiece);
  }
  if (failure !== undefined) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, describeError(failure, model.name));
  }
  return answer;
}

/** Describes an error in one sentence; the server adds the remedy, and knows "prompt is too long". */
export function describeError(error: unknown, model: string): string {
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
  if (TOO_LONG.test(message)) {
    return `The prompt is too long for ${model}${cause}.`;
  }
  return `${model} did not answer${cause}.`;
}

function textsOf({ content, toolCalls = [] }: Pick<Message, "content" | "toolCalls">): string[] {
  return [content, ...toolCalls.flatMap((call) => [call.name, call.arguments])].filter((text) => text !== "");
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
    client.onRequest(METHODS.complete, async (params: CompleteParams, token: vscode.CancellationToken) =>
      complete(await currentModel(host), params, token, (text) =>
        client.sendNotification(METHODS.completing, { id: params.id, text } satisfies CompletingParams),
      ),
    );
    client.onRequest(METHODS.modelInfo, async () => describeModel(await currentModel(host), toolApi()));
  });
};
