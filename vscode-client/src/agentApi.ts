// Parts of VS Code's API for agents that are newer than the types of the extension; an editor may lack each of them.

import * as vscode from "vscode";

export interface LanguageModelTool<Input> {
  prepareInvocation(options: { input: Input }): {
    invocationMessage: string;
    confirmationMessages: { title: string; message: vscode.MarkdownString };
  };
  invoke(options: { input: Input }, token: vscode.CancellationToken): Promise<object>;
}

export interface McpServerProvider {
  onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): object[];
}

/** Since VS Code 1.95. */
interface ToolRegistry {
  lm: { registerTool(name: string, tool: LanguageModelTool<never>): vscode.Disposable };
  LanguageModelTextPart: new (value: string) => object;
  LanguageModelToolResult: new (content: object[]) => object;
}

/** Since VS Code 1.101. */
interface McpRegistry {
  lm: { registerMcpServerDefinitionProvider(id: string, provider: McpServerProvider): vscode.Disposable };
  McpStdioServerDefinition: new (label: string, command: string, args: string[], env: Record<string, string>, version: string) => object;
}

/** Since VS Code 1.90. */
interface ChatRegistry {
  chat: Pick<typeof vscode.chat, "createChatParticipant">;
}

type Lacking<Api> = { [Name in keyof Api]?: Partial<Api[Name]> };

export function toolRegistry(api: object = vscode): ToolRegistry | undefined {
  const { lm, LanguageModelTextPart, LanguageModelToolResult } = api as Lacking<ToolRegistry>;
  return lm && "registerTool" in lm && LanguageModelTextPart && LanguageModelToolResult ? (api as ToolRegistry) : undefined;
}

export function mcpRegistry(api: object = vscode): McpRegistry | undefined {
  const { lm, McpStdioServerDefinition } = api as Lacking<McpRegistry>;
  return lm && "registerMcpServerDefinitionProvider" in lm && McpStdioServerDefinition ? (api as McpRegistry) : undefined;
}

export function chatRegistry(api: object = vscode): ChatRegistry | undefined {
  const { chat } = api as Lacking<ChatRegistry>;
  return chat && "createChatParticipant" in chat ? (api as ChatRegistry) : undefined;
}
