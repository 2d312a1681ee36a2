// Shows the server's messages; what they quote from tests and models stays text and cannot become a command link.

import * as vscode from "vscode";
import { type MessageActionItem, MessageType, ShowMessageNotification, ShowMessageRequest } from "vscode-languageclient/node";

import { escapeLinks } from "../escapeMarkdown";
import type { Host } from "../host";

export function register(host: Host): void {
  host.onClientCreated((client) => {
    // Replaces the client's own handlers, which show the text without escaping it.
    client.onNotification(ShowMessageNotification.type, ({ type, message }) => {
      void showMessage(type, message, []);
    });
    client.onRequest(ShowMessageRequest.type, async ({ type, message, actions }) => {
      return (await showMessage(type, message, actions ?? [])) ?? null;
    });
  });
}

function showMessage(type: MessageType, message: string, actions: MessageActionItem[]): Thenable<MessageActionItem | undefined> {
  const text = escapeLinks(message);
  switch (type) {
    case MessageType.Error:
      return vscode.window.showErrorMessage(text, ...actions);
    case MessageType.Warning:
      return vscode.window.showWarningMessage(text, ...actions);
    default:
      return vscode.window.showInformationMessage(text, ...actions);
  }
}
