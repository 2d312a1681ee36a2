// Opens the server's read-only Markdown pages, which are outside every folder, in the Markdown preview.

import * as vscode from "vscode";

import type { Host } from "../host";
import { errorMessage } from "../serverRequests";

export function register(host: Host): void {
  host.middleware.window = {
    ...host.middleware.window,
    showDocument: async (params, token, next) => {
      const uri = vscode.Uri.parse(params.uri);
      const isPage = uri.scheme === "file" && uri.path.endsWith(".md");
      if (!isPage || vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
        return next(params, token);
      }
      try {
        // The preview runs no scripts and follows no command links.
        await vscode.commands.executeCommand("markdown.showPreview", uri);
        return { success: true };
      } catch (error) {
        host.log.debug(errorMessage(error));
        return next(params, token);
      }
    },
  };
}
