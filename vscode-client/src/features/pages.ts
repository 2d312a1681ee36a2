// The server's read-only pages are Markdown files outside of every folder: shown as they are meant to be read.

import * as vscode from "vscode";

import { sentence } from "../ask";
import type { Host } from "../host";

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
        // The preview runs no script and follows no command link.
        await vscode.commands.executeCommand("markdown.showPreview", uri);
        return { success: true };
      } catch (error) {
        host.log.debug(sentence(error));
        return next(params, token);
      }
    },
  };
}
