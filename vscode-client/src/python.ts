// Finds the Python that runs greenloop. What is asked: each one whether it has greenloop, in a folder that is nobody's.

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";

import { inside, ownPython } from "./environment";
import { activePython } from "./pythonExtension";
import { atLeast } from "./version";

/** The oldest Python that greenloop runs on. */
const OLDEST = [3, 11] as const;
const PATIENCE = 15_000;

/** One Python that answered. `greenloop` is its version there, null where it is not installed. */
export interface Python {
  path: string;
  version: readonly [number, number, number];
  greenloop: string | null;
}

/** What a search came to; `named` is a setting that names no Python that answers. */
export type Found =
  | { kind: "fits"; python: Python }
  | { kind: "old"; python: Python }
  | { kind: "without"; python: Python }
  | { kind: "named"; path: string; version?: string }
  | { kind: "none" };

// The version alone is imported: nothing of greenloop runs. Import by name and not by metadata, which checkouts lack.
const QUESTION = `
import json, sys
try:
    from greenloop import __version__ as found
except Exception:
    found = None
print(json.dumps({"path": sys.executable, "version": sys.version_info[:3], "greenloop": found and str(found)}))
`;

/** The version that this extension needs: its own. */
export function needed(context: vscode.ExtensionContext): string {
  return (context.extension.packageJSON as { version: string }).version;
}

/** A folder in which no file of a workspace can pass for a module or a program. */
export async function neutral(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(context.globalStorageUri.fsPath, "empty");
  await mkdir(folder, { recursive: true });
  return folder;
}

/** What `path` says of itself; undefined where it is no Python that answers. */
export async function ask(path: string, folder: string): Promise<Python | undefined> {
  const env = { ...process.env, PYTHONSAFEPATH: "1" };
  const options = { cwd: folder, env, timeout: PATIENCE, killSignal: "SIGKILL", maxBuffer: 65_536, windowsHide: true } as const;
  const output = await new Promise<string>((resolve) => {
    execFile(path, ["-c", QUESTION], options, (error, stdout) => resolve(error === null ? stdout : ""));
  });
  try {
    const answer = JSON.parse(output.trim().split("\n").at(-1) ?? "") as Python;
    return { ...answer, path };
  } catch {
    return undefined;
  }
}

export function recent(python: Python): boolean {
  const [major, minor] = python.version;
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The value of the setting `greenloop.python`, with `~` in full; empty where there is none. The user's alone. */
export function setting(): string {
  const found = vscode.workspace.getConfiguration("greenloop").inspect("python")?.globalValue;
  const value = typeof found === "string" ? found.trim() : "";
  return value.startsWith("~/") ? join(homedir(), value.slice(2)) : value;
}

/** Where a Python may be, the most wanted first; the slow question comes after the quick ones. */
export async function* places(context: vscode.ExtensionContext): AsyncGenerator<string> {
  const own = await ownPython(context);
  if (own !== undefined) {
    yield own;
  }
  if (!vscode.workspace.isTrusted) {
    return;
  }
  const active = await activePython();
  if (active !== undefined) {
    yield active;
  }
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    if (folder.uri.scheme === "file") {
      yield inside(join(folder.uri.fsPath, ".venv"));
      yield inside(join(folder.uri.fsPath, "venv"));
    }
  }
  yield* onPath();
}

/** The names of Python on PATH. */
export function onPath(): string[] {
  const minors = [14, 13, 12, 11].map((minor) => `python3.${minor}`);
  return process.platform === "win32" ? ["python", "python3"] : ["python3", "python", ...minors];
}

/** The first Python whose greenloop is new enough; else the best reason why there is none. */
export async function find(context: vscode.ExtensionContext): Promise<Found> {
  const folder = await neutral(context);
  const wanted = needed(context);
  const named = setting();
  if (named !== "") {
    const python = await ask(named, folder);
    if (python === undefined || !recent(python)) {
      return { kind: "named", path: named, ...(python && { version: python.version.join(".") }) };
    }
    return judge(python, wanted);
  }
  let best: Found = { kind: "none" };
  for await (const path of places(context)) {
    const python = await ask(path, folder);
    if (python === undefined) {
      continue;
    }
    const found = judge(python, wanted);
    if (found.kind === "fits") {
      return found;
    }
    if (found.kind === "old" ? best.kind !== "old" : best.kind === "none" && found.kind === "without") {
      best = found;
    }
  }
  return best;
}

function judge(python: Python, wanted: string): Found {
  if (!recent(python)) {
    return { kind: "none" };
  }
  if (python.greenloop === null) {
    return { kind: "without", python };
  }
  return { kind: atLeast(python.greenloop, wanted) ? "fits" : "old", python };
}
