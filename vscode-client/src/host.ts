// Shared state that each feature receives when it registers: the current client, the server's status, the problems.

import type * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";

import type { ProblemReporter } from "./problem";
import type { Python } from "./python";

/** `error`: no server is running, and `message` says why. */
export interface ServerStatus {
  state: "starting" | "ready" | "error";
  message: string;
}

export interface Host {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  /** Passed to every client; features add their functions when they register. */
  readonly middleware: Middleware;
  /** Shows problems, with buttons that fix them. */
  readonly problems: ProblemReporter;
  /** Whether the server is starting, ready or could not be started. */
  readonly serverStatus: ServerStatus;
  readonly onDidChangeServerStatus: vscode.Event<ServerStatus>;
  setServerStatus(state: ServerStatus["state"], message: string): void;
  /** The Python of the running server; undefined while none is ready. */
  python(): Python | undefined;
  /** The client of the running server. */
  client(): LanguageClient | undefined;
  /** Calls `handle` with each new client before it starts: the place to register handlers of server messages. */
  onClientCreated(handle: (client: LanguageClient) => void): void;
  /** Stops the server and starts it again. Calls are queued, never run in parallel. */
  restart(): Promise<void>;
}

/** Answers a question to the chat participant. */
export type Respond = (
  request: Pick<vscode.ChatRequest, "command" | "prompt" | "references">,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
) => Promise<void>;

/** Returned by `activate`, for tests and other extensions: the first client that is ready, the host, and the chat. */
export interface Api {
  readonly ready: Promise<LanguageClient>;
  readonly host: Host;
  readonly respond: Respond;
}

/** Registers one feature; each file in `features` exports one. */
export type RegisterFeature = (host: Host) => void;
