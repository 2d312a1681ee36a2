// Sends requests to the server; errors become one sentence with a button, never a stack trace.

import { CancellationTokenSource } from "vscode";
import { ErrorCodes, ExecuteCommandRequest, type LanguageClient, ResponseError } from "vscode-languageclient/node";

import type { Host } from "./host";
import type { Button } from "./problem";
import { RESTART, SHOW_LOG } from "./startupProblems";

/** Errors of requests that were open when the server stopped; the session reports that once. A function, because the
 * client library is loaded on first use. */
const connectionLostCodes = (): number[] => [ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive];

/** The message of an error; for a refused request, the server's own sentence. */
export function errorMessage(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/** Shows a warning about something that the user just asked for, even if it repeats the last one. */
export function warn(host: Host, reason: string, message: string, ...buttons: Button[]): void {
  host.problems.allowRepeats();
  host.problems.show({ reason, message, buttons, severity: "warning" });
}

/** Sends one of greenloop's own requests. Returns undefined after an error, which has been shown. */
export function request<Reply>(host: Host, method: string, params: object): Promise<Reply | undefined> {
  return sendReportingErrors(host, (client) => client.sendRequest<Reply>(method, params));
}

/** Runs one of the server's commands, as code actions do. */
export function executeCommand(host: Host, command: string, ...args: object[]): Promise<unknown> {
  return sendReportingErrors(host, (client) => client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args }));
}

/** Sends a request that the user did not ask for: an error is only logged, and the answer is waited for so long. */
export async function requestQuietly<Reply>(host: Host, method: string, params: object, seconds = 30): Promise<Reply | undefined> {
  const client = await waitForClient(host);
  const source = new CancellationTokenSource();
  const timer = setTimeout(() => source.cancel(), seconds * 1000);
  try {
    return await client?.sendRequest<Reply>(method, params, source.token);
  } catch (error) {
    host.log.debug(`${method}: ${errorMessage(error)}`);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function sendReportingErrors<Reply>(
  host: Host,
  send: (client: LanguageClient) => Promise<Reply>,
): Promise<Reply | undefined> {
  const client = await requireClient(host);
  if (client === undefined) {
    return undefined;
  }
  // A refusal answers this request, so it is shown even if it repeats an earlier one.
  host.problems.allowRepeats();
  try {
    return await send(client);
  } catch (error) {
    host.log.debug(errorMessage(error));
    const code = error instanceof ResponseError ? error.code : undefined;
    if (code === ErrorCodes.InvalidParams) {
      warn(host, "usage", errorMessage(error));
    } else if (code !== undefined && !connectionLostCodes().includes(code)) {
      warn(host, "failed", errorMessage(error), SHOW_LOG);
    }
    return undefined;
  }
}

/** Waits for the client; if the server is not running, shows why and returns undefined. */
async function requireClient(host: Host): Promise<LanguageClient | undefined> {
  const client = await waitForClient(host);
  if (client !== undefined) {
    return client;
  }
  const { message } = host.serverStatus;
  const shownBefore = [...host.problems.history].reverse().find((problem) => problem.message === message);
  host.problems.allowRepeats();
  host.problems.show(
    shownBefore ?? { reason: "start", message: message || "The greenloop server is not running.", buttons: [RESTART, SHOW_LOG] },
  );
  return undefined;
}

/** Waits while the server starts; undefined if it could not be started. */
export async function waitForClient(host: Host): Promise<LanguageClient | undefined> {
  if (host.serverStatus.state === "starting") {
    await new Promise<void>((resolve) => {
      const subscription = host.onDidChangeServerStatus(({ state }) => {
        if (state !== "starting") {
          subscription.dispose();
          resolve();
        }
      });
    });
  }
  return host.serverStatus.state === "ready" ? host.client() : undefined;
}
