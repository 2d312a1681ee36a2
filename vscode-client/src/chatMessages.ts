// Converts conversations between greenloop's messages and the parts of VS Code's language model API.

import * as vscode from "vscode";

import type { Message, Tool, ToolCall } from "./protocol";

interface ToolCallPart {
  callId: string;
  name: string;
  input: object;
}

/** The classes for tools since VS Code 1.95, which is newer than the types of the extension. */
export interface ToolApi {
  LanguageModelTextPart: new (value: string) => { value: string };
  LanguageModelToolCallPart: new (callId: string, name: string, input: object) => ToolCallPart;
  LanguageModelToolResultPart: new (callId: string, content: object[]) => object;
}

export interface Answer {
  text: string;
  toolCalls: ToolCall[];
}

/** Undefined in older versions, and in editors derived from VS Code that lack the classes. */
export function toolApi(): ToolApi | undefined {
  const api = vscode as unknown as Partial<ToolApi>;
  const isComplete = api.LanguageModelTextPart && api.LanguageModelToolCallPart && api.LanguageModelToolResultPart;
  return isComplete ? (api as ToolApi) : undefined;
}

/** Results that follow each other become one message, because some providers expect all of them in the next one. */
export function toChatMessages(messages: Message[], api: ToolApi | undefined): vscode.LanguageModelChatMessage[] {
  const converted: vscode.LanguageModelChatMessage[] = [];
  let results: object[] | undefined;
  for (const message of messages) {
    if (api === undefined || message.role !== "tool") {
      results = undefined;
      converted.push(toChatMessage(message, api));
      continue;
    }
    if (results === undefined) {
      results = [];
      converted.push(vscode.LanguageModelChatMessage.User(asContent(results)));
    }
    const content = [new api.LanguageModelTextPart(message.content)];
    results.push(new api.LanguageModelToolResultPart(message.toolCallId ?? "", content));
  }
  return converted;
}

function toChatMessage({ role, content, toolCalls = [] }: Message, api: ToolApi | undefined): vscode.LanguageModelChatMessage {
  if (role !== "assistant") {
    // The API has no system messages.
    return vscode.LanguageModelChatMessage.User(content);
  }
  if (api === undefined || toolCalls.length === 0) {
    return vscode.LanguageModelChatMessage.Assistant(content);
  }
  const text = content === "" ? [] : [new api.LanguageModelTextPart(content)];
  const calls = toolCalls.map((call) => new api.LanguageModelToolCallPart(call.id, call.name, parseInput(call.arguments)));
  return vscode.LanguageModelChatMessage.Assistant(asContent([...text, ...calls]));
}

/** The types of the extension know texts only. */
function asContent(parts: object[]): string {
  return parts as unknown as string;
}

function parseInput(text: string): object {
  try {
    const input: unknown = JSON.parse(text);
    return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
  } catch {
    return {};
  }
}

/** `LanguageModelChatTool` of the API. */
export function toChatTools(tools: Tool[]): object[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
}

/**
 * Adds the parts of a response to `answer`, so that a response that fails leaves those before the failure.
 * Parts that are not text, such as calls and thoughts, are reported as an empty piece: the model is at work.
 */
export async function readResponse(
  response: vscode.LanguageModelChatResponse,
  api: ToolApi | undefined,
  answer: Answer,
  onPiece: (text: string) => Promise<void>,
): Promise<void> {
  const { stream } = response as { stream?: AsyncIterable<unknown> };
  for await (const part of api === undefined || stream === undefined ? response.text : stream) {
    let text = "";
    if (typeof part === "string") {
      text = part;
    } else if (api !== undefined && part instanceof api.LanguageModelTextPart) {
      text = part.value;
    } else if (api !== undefined && part instanceof api.LanguageModelToolCallPart) {
      answer.toolCalls.push({ id: part.callId, name: part.name, arguments: JSON.stringify(part.input) });
    }
    answer.text += text;
    await onPiece(text);
  }
}
