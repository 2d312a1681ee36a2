// The server's messages: what it quotes from tests and models is text, and never a link that runs something.

import * as vscode from "vscode";
import { type MessageActionItem, MessageType, ShowMessageNotification, ShowMessageRequest } from "vscode-languageclient/node";

import type { Host } from "../host";
import { plain } from "../plain";

export function register(host: Host): void {
  host.onClient((client) => {
    // In place of the client's own handlers, which show the text as it comes.
    client.onNotification(ShowMessageNotification.type, ({ type, message }) => {
      void show(type, message, []);
    });
    client.onRequest(ShowMessageRequest.type, async ({ type, message, actions }) => {
      return (await show(type, message, actions ?? [])) ?? null;
    });
  });
}

function show(type: MessageType, message: string, actions: MessageActionItem[]): Thenable<MessageActionItem | undefined> {
  const text = plain(message);
  switch (type) {
    case MessageType.Error:
      return vscode.window.showErrorMessage(text, ...actions);
    case MessageType.Warning:
      return vscode.window.showWarningMessage(text, ...actions);
    default:
      return vscode.window.showInformationMessage(text, ...actions);
  }
}
