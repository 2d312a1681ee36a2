// What agents ask of the server, shared by the tools and the chat participant. Answers are short texts, errors too.

import { isAbsolute } from "node:path";
import * as vscode from "vscode";

import { pythonEditor } from "./commandTargets";
import { formatAttempt, modelAttempts } from "./formatting";
import type { Host } from "./host";
import { type AttemptFiles, type Explanation, METHODS, type RefineReply, type Run, type ShortAnswer } from "./protocol";
import { runStoreOf } from "./runStore";
import { errorMessage, waitForClient } from "./serverRequests";

/** Runs are reported at most every 0.2 seconds. */
const LAST_STATE_MS = 2000;

/** A node id (`test_m.py::test_double`), a function (`m.py::double`), or a position in a document. */
export type AgentTarget = { test: string } | { uri: string; position: { line: number; character: number } };

/** Runs the tests of the last commit over the files on disk. */
export async function verify(host: Host, targets: readonly string[], token: vscode.CancellationToken): Promise<ShortAnswer> {
  await vscode.workspace.saveAll();
  return send<ShortAnswer>(host, METHODS.verify, { uri: await documentUri(targets[0]), targets }, token);
}

/** Says where a test fails, and what is most likely at fault. */
export async function explain(host: Host, target: AgentTarget, token: vscode.CancellationToken): Promise<Explanation> {
  await vscode.workspace.saveAll();
  const params = "test" in target ? { uri: await documentUri(target.test), target: target.test } : target;
  return send<Explanation>(host, METHODS.explain, params, token);
}

/** Refines until tests pass; `onProgress` gets the run whenever it changes. */
export async function refine(
  host: Host, target: AgentTarget, token: vscode.CancellationToken, onProgress: (run: Run) => void = () => undefined,
): Promise<ShortAnswer & { run?: Run }> {
  const runs = runStoreOf(host);
  const before = new Set(runs.running);
  const uri = "test" in target ? await documentUri(target.test) : target.uri;
  let mine: Run | undefined;
  let notifyOver = (): void => undefined;
  const over = new Promise<void>((resolve) => (notifyOver = resolve));
  const changes = runs.onDidChange(() => {
    const current = mine === undefined ? runs.running.find((run) => run.uri === uri && !before.has(run)) : runs.find(mine);
    if (current !== undefined) {
      mine = current;
      onProgress(current);
      if (current.phase === "over") {
        notifyOver();
      }
    }
  });
  try {
    const reply = await send<RefineReply>(host, METHODS.refine, { ...target, uri }, token);
    if (mine !== undefined && !("text" in reply)) {
      // The last state of the run follows the reply.
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, LAST_STATE_MS))]);
    }
    const run = mine;
    return { ...("text" in reply ? reply : { text: await describeEnd(host, reply, run), verified: reply.verified === "verified" }), ...(run && { run }) };
  } finally {
    changes.dispose();
  }
}

async function describeEnd(host: Host, reply: RefineReply, run: Run | undefined): Promise<string> {
  const attempts = reply.attempts === 1 ? "1 attempt" : `${reply.attempts} attempts`;
  const state = run?.said || reply.reason;
  if (!reply.solved) {
    const last = run === undefined ? undefined : modelAttempts(run).at(-1);
    return [`Not solved after ${attempts}: ${state}.`, last && `Last attempt: ${formatAttempt(last)}. ${last.message}`].filter(Boolean).join("\n");
  }
  if (run?.result == null) {
    return reply.reason === "already-green" ? "It already passes; nothing was changed." : `Solved after ${attempts}: ${state}.`;
  }
  const { uri, target, result } = run;
  const changed = await host.client()?.sendRequest<AttemptFiles>(METHODS.attempt, { uri, target, attempt: result });
  const files = changed?.files.map((file) => vscode.workspace.asRelativePath(vscode.Uri.parse(file.uri), false)).join(", ") ?? "";
  const where = reply.applied ? `The change is in ${files}, not saved yet; one undo reverts it.` : `The change (${files}) waits for the user to apply or discard it.`;
  return [`Solved after ${attempts}: ${state}.`, where, reply.gain, ...run.notes].filter(Boolean).join("\n");
}

/** Errors and a server that does not run become answers; cancelling is passed on. */
async function send<Reply>(host: Host, method: string, params: object, token: vscode.CancellationToken): Promise<Reply | ShortAnswer> {
  const client = await waitForClient(host);
  if (client === undefined) {
    return { text: host.serverStatus.message || "The greenloop server is not running." };
  }
  try {
    return await client.sendRequest<Reply>(method, params, token);
  } catch (error) {
    if (token.isCancellationRequested) {
      throw new vscode.CancellationError();
    }
    host.log.debug(errorMessage(error));
    return { text: errorMessage(error) };
  }
}

/** The document of a node id or path: in the folder that has it, else in the first; without one, the open document. */
async function documentUri(test: string | undefined): Promise<string> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const path = test?.split("::")[0] ?? "";
  if (path === "") {
    return (pythonEditor()?.document.uri ?? folders[0]?.uri)?.toString() ?? "";
  }
  if (isAbsolute(path)) {
    return vscode.Uri.file(path).toString();
  }
  for (const folder of folders) {
    const uri = vscode.Uri.joinPath(folder.uri, path);
    if (await vscode.workspace.fs.stat(uri).then(() => true, () => false)) {
      return uri.toString();
    }
  }
  return folders[0] === undefined ? "" : vscode.Uri.joinPath(folders[0].uri, path).toString();
}
