// What the parts of the extension share: the client that is running now, and what happens when there is another one.

import type * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";

import type { Problems } from "./problem";

/** `error`: there is no server, and `said` tells why. */
export interface Standing {
  state: "starting" | "ready" | "error";
  said: string;
}

export interface Host {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  /** Given to each client; parts put their own functions into it when they register. */
  readonly middleware: Middleware;
  /** Where a part shows what is wrong, with a button that fixes it. */
  readonly problems: Problems;
  /** How the start of the server stands. */
  readonly standing: Standing;
  readonly onDidChangeStanding: vscode.Event<Standing>;
  stand(state: Standing["state"], said: string): void;
  /** The client of the server that is running now. */
  client(): LanguageClient | undefined;
  /** Called with each client before it starts: the place for handlers of the server's messages. */
  onClient(handle: (client: LanguageClient) => void): void;
  /** Ends the server and starts it again, one after the other however often it is called. */
  restart(): Promise<void>;
}

/** What `activate` gives to tests and to other extensions: the first client that runs, and the host. */
export interface Api {
  readonly ready: Promise<LanguageClient>;
  readonly host: Host;
}

/** A part of the extension: one file in `features` each. */
export type Register = (host: Host) => void;
