// Asks the server for something; what goes wrong is one sentence with a button, never a stack or an internal name.

import { ErrorCodes, ExecuteCommandRequest, type LanguageClient, ResponseError } from "vscode-languageclient/node";

import type { Host } from "./host";
import type { Button } from "./problem";
import { LOG, RESTART } from "./troubles";

/** What ended together with the server: whoever watches it tells of that. */
const ENDED = (): number[] => [ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive];

/** The sentence of an error: the server's own for a request that it refused. */
export function sentence(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/** A warning about what the user has asked for just now: it is shown however often he asks. */
export function warn(host: Host, reason: string, message: string, ...buttons: Button[]): void {
  host.problems.forget();
  host.problems.show({ reason, message, buttons, severity: "warning" });
}

/** The reply to one of greenloop's own requests; undefined where there is none, which the user was told. */
export function request<Reply>(host: Host, method: string, params: object): Promise<Reply | undefined> {
  return guarded(host, (client) => client.sendRequest<Reply>(method, params));
}

/** Runs one of the server's commands, as the code actions do. */
export function execute(host: Host, command: string, ...args: object[]): Promise<unknown> {
  return guarded(host, (client) => client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args }));
}

async function guarded<Reply>(
  host: Host,
  send: (client: LanguageClient) => Promise<Reply>,
): Promise<Reply | undefined> {
  const client = await started(host);
  if (client === undefined) {
    return undefined;
  }
  // The server's refusal of this is an answer, however often it was given before.
  host.problems.forget();
  try {
    return await send(client);
  } catch (error) {
    host.log.debug(sentence(error));
    const code = error instanceof ResponseError ? error.code : undefined;
    if (code === ErrorCodes.InvalidParams) {
      warn(host, "usage", sentence(error));
    } else if (code !== undefined && !ENDED().includes(code)) {
      warn(host, "failed", sentence(error), LOG);
    }
    return undefined;
  }
}

/** The client, once it runs; where it does not, the user is told why. */
async function started(host: Host): Promise<LanguageClient | undefined> {
  const client = await beyondStart(host);
  if (client !== undefined) {
    return client;
  }
  const { said } = host.standing;
  const known = [...host.problems.told].reverse().find((problem) => problem.message === said);
  host.problems.forget();
  host.problems.show(
    known ?? { reason: "start", message: said || "greenloop's server does not run.", buttons: [RESTART, LOG] },
  );
  return undefined;
}

/** The client that runs, or will in a moment; undefined where the start has failed. */
export async function beyondStart(host: Host): Promise<LanguageClient | undefined> {
  if (host.standing.state === "starting") {
    await new Promise<void>((resolve) => {
      const waiting = host.onDidChangeStanding(({ state }) => {
        if (state !== "starting") {
          waiting.dispose();
          resolve();
        }
      });
    });
  }
  return host.standing.state === "ready" ? host.client() : undefined;
}
