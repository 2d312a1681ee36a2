// Offers greenloop's MCP server to agent mode, started with the Python of the language server.

import * as vscode from "vscode";

import { mcpRegistry } from "../agentApi";
import type { RegisterFeature } from "../host";
import { extensionVersion } from "../python";

export const register: RegisterFeature = (host) => {
  const registry = mcpRegistry();
  if (registry === undefined) {
    host.log.info("This editor has no providers of MCP servers.");
    return;
  }
  const didChange = new vscode.EventEmitter<void>();
  const provider = {
    onDidChangeMcpServerDefinitions: didChange.event,
    provideMcpServerDefinitions: () => {
      const python = host.python();
      const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
      if (python?.mcp !== true || folders.length === 0) {
        return [];
      }
      const roots = folders.flatMap(({ uri }) => ["--root", uri.fsPath]);
      // `-P`: modules are not imported from the folder in which the server starts.
      const args = ["-P", "-m", "greenloop", "mcp", ...roots];
      return [new registry.McpStdioServerDefinition("greenloop", python.path, args, {}, extensionVersion(host.context))];
    },
  };
  host.context.subscriptions.push(
    didChange,
    registry.lm.registerMcpServerDefinitionProvider("greenloop.mcp", provider),
    host.onDidChangeServerStatus(() => didChange.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => didChange.fire()),
  );
};
