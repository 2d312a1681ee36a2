// Finds a Python that runs greenloop. Each candidate is asked for its version, in an empty folder.

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";

import { newestManagedPython, pythonIn } from "./managedEnvironments";
import { activePython } from "./pythonExtension";
import { isAtLeast } from "./version";

/** The oldest Python that can run greenloop. */
const MINIMUM_VERSION = [3, 11] as const;
const PROBE_TIMEOUT_MS = 15_000;

/** A Python that answered. `greenloop` is the version installed there, null if there is none; `mcp`: it can serve MCP. */
export interface Python {
  path: string;
  version: readonly [number, number, number];
  greenloop: string | null;
  mcp?: boolean;
}

/** The result of a search. `badSetting`: `greenloop.python` names something that cannot run greenloop. */
export type SearchResult =
  | { kind: "usable"; python: Python }
  | { kind: "outdated"; python: Python }
  | { kind: "notInstalled"; python: Python }
  | { kind: "badSetting"; path: string; version?: string }
  | { kind: "noPython" };

// Importing the version runs nothing else of greenloop. Package metadata would be missing in a source checkout.
const PROBE_SCRIPT = `
import importlib.util, json, sys
try:
    from greenloop import __version__ as found
except Exception:
    found = None
print(json.dumps({"path": sys.executable, "version": sys.version_info[:3], "greenloop": found and str(found), "mcp": bool(importlib.util.find_spec("mcp"))}))
`;

/** The version of greenloop that this extension needs: its own. */
export function extensionVersion(context: vscode.ExtensionContext): string {
  return (context.extension.packageJSON as { version: string }).version;
}

/** A folder without files, so that nothing in a workspace can shadow a module or a program. */
export async function emptyFolder(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(context.globalStorageUri.fsPath, "empty");
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Asks `path` for its version; undefined if it does not run as a Python interpreter. */
export async function probePython(path: string, folder: string): Promise<Python | undefined> {
  const env = { ...process.env, PYTHONSAFEPATH: "1" };
  const options = { cwd: folder, env, timeout: PROBE_TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 65_536, windowsHide: true } as const;
  const output = await new Promise<string>((resolve) => {
    execFile(path, ["-c", PROBE_SCRIPT], options, (error, stdout) => resolve(error === null ? stdout : ""));
  });
  try {
    const answer = JSON.parse(output.trim().split("\n").at(-1) ?? "") as Python;
    return { ...answer, path };
  } catch {
    return undefined;
  }
}

export function isSupported(python: Python): boolean {
  const [major, minor] = python.version;
  return major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1]);
}

/** The setting `greenloop.python` with `~` expanded, empty if unset. Only the user's own value counts. */
export function pythonSetting(): string {
  const configured = vscode.workspace.getConfiguration("greenloop").inspect("python")?.globalValue;
  const value = typeof configured === "string" ? configured.trim() : "";
  return value.startsWith("~/") ? join(homedir(), value.slice(2)) : value;
}

/** Paths that may be a Python, the preferred ones first. The Python extension, which may be slow, is asked only if the
 * managed environment does not fit. */
export async function* candidatePaths(context: vscode.ExtensionContext): AsyncGenerator<string> {
  const managed = await newestManagedPython(context);
  if (managed !== undefined) {
    yield managed;
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
      yield pythonIn(join(folder.uri.fsPath, ".venv"));
      yield pythonIn(join(folder.uri.fsPath, "venv"));
    }
  }
  yield* namesOnPath();
}

/** Names to look up on PATH. */
export function namesOnPath(): string[] {
  const minors = [14, 13, 12, 11].map((minor) => `python3.${minor}`);
  return process.platform === "win32" ? ["python", "python3"] : ["python3", "python", ...minors];
}

/** The first Python whose greenloop is new enough, else the most helpful reason why there is none. */
export async function findPython(context: vscode.ExtensionContext): Promise<SearchResult> {
  const folder = await emptyFolder(context);
  // A checkout that a developer installed has a version on the way to this one.
  const requiredVersion = `${extensionVersion(context)}.dev0`;
  const configured = pythonSetting();
  if (configured !== "") {
    const python = await probePython(configured, folder);
    if (python === undefined || !isSupported(python)) {
      return { kind: "badSetting", path: configured, ...(python && { version: python.version.join(".") }) };
    }
    return classify(python, requiredVersion);
  }
  let best: SearchResult = { kind: "noPython" };
  for await (const path of candidatePaths(context)) {
    const python = await probePython(path, folder);
    if (python === undefined) {
      continue;
    }
    const result = classify(python, requiredVersion);
    if (result.kind === "usable") {
      return result;
    }
    if (result.kind === "outdated" ? best.kind !== "outdated" : best.kind === "noPython" && result.kind === "notInstalled") {
      best = result;
    }
  }
  return best;
}

function classify(python: Python, requiredVersion: string): SearchResult {
  if (!isSupported(python)) {
    return { kind: "noPython" };
  }
  if (python.greenloop === null) {
    return { kind: "notInstalled", python };
  }
  return { kind: isAtLeast(python.greenloop, requiredVersion) ? "usable" : "outdated", python };
}
