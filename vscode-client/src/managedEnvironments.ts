// Environments managed by the extension, in its storage. One is used; incomplete and replaced ones are removed.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as vscode from "vscode";

/** Written last: an environment without it is incomplete. */
const COMPLETE_MARKER = "greenloop-complete";
/** Contains the id of the process that creates the environment. */
const CREATOR_MARKER = "greenloop-maker";
/** One file for each process that runs greenloop from the environment; its id follows the prefix. */
const USER_MARKER_PREFIX = "greenloop-user-";
const DAY_MS = 24 * 3600 * 1000;

/** The path of an environment's interpreter. */
export function pythonIn(environment: string): string {
  return process.platform === "win32"
    ? join(environment, "Scripts", "python.exe")
    : join(environment, "bin", "python");
}

function environmentsFolder(context: vscode.ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, "environments");
}

/** The interpreter of the newest complete environment. */
export async function newestManagedPython(context: vscode.ExtensionContext): Promise<string | undefined> {
  const [newest] = await listComplete(context);
  return newest === undefined ? undefined : pythonIn(newest.folder);
}

/** Creates an empty folder for a new environment. */
export async function createFolder(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(environmentsFolder(context), randomBytes(4).toString("hex"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, CREATOR_MARKER), String(process.pid));
  return folder;
}

export async function markComplete(folder: string, version: string): Promise<void> {
  await writeFile(join(folder, COMPLETE_MARKER), version);
}

export async function removeEnvironment(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Marks an environment as used by this process: another window may replace it while this one runs for days. */
export async function markInUse(context: vscode.ExtensionContext, python: string): Promise<void> {
  const environment = (await listComplete(context)).find(({ folder }) => pythonIn(folder) === python);
  if (environment !== undefined) {
    await writeFile(join(environment.folder, `${USER_MARKER_PREFIX}${process.pid}`), "");
  }
}

/** Removes incomplete environments whose creator has exited, and unused ones that were replaced a day ago. */
export async function removeUnused(context: vscode.ExtensionContext): Promise<void> {
  const [newest, ...older] = await listComplete(context);
  // Another window may be about to start one that was replaced just now.
  const replaced = newest !== undefined && Date.now() - newest.completedAt > DAY_MS ? older.map((environment) => environment.folder) : [];
  const unused = await Promise.all(replaced.map(async (folder) => ((await isInUse(folder)) ? [] : [folder])));
  const complete = new Set([newest, ...older].map((environment) => environment?.folder));
  const incomplete = (await listFolders(context)).filter((folder) => !complete.has(folder));
  const abandoned = await Promise.all(incomplete.map(async (folder) => ((await isBeingCreated(folder)) ? [] : [folder])));
  await Promise.all([...unused.flat(), ...abandoned.flat()].map(removeEnvironment));
}

async function isBeingCreated(folder: string): Promise<boolean> {
  return isProcessAlive(await readFile(join(folder, CREATOR_MARKER), "utf8").catch(() => ""));
}

async function isInUse(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => [] as string[]);
  return names.some((name) => name.startsWith(USER_MARKER_PREFIX) && isProcessAlive(name.slice(USER_MARKER_PREFIX.length)));
}

function isProcessAlive(pid: string): boolean {
  if (!/^[1-9]\d*$/.test(pid)) {
    return false;
  }
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function listComplete(context: vscode.ExtensionContext): Promise<{ folder: string; completedAt: number }[]> {
  const all = await listFolders(context);
  const completed = await Promise.all(
    all.map(async (folder) => {
      const marker = await stat(join(folder, COMPLETE_MARKER)).catch(() => undefined);
      return marker === undefined ? [] : [{ folder, completedAt: marker.mtimeMs }];
    }),
  );
  return completed.flat().sort((a, b) => b.completedAt - a.completedAt);
}

async function listFolders(context: vscode.ExtensionContext): Promise<string[]> {
  const names = await readdir(environmentsFolder(context)).catch(() => [] as string[]);
  return names.map((name) => join(environmentsFolder(context), name));
}
