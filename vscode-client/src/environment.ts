// The environments of the extension's own, in its storage: one is in use, half-made and old ones are removed.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as vscode from "vscode";

/** Written last: an environment without it was never finished. */
const COMPLETE = "greenloop-complete";
/** Names the process that makes an environment. */
const MAKER = "greenloop-maker";
/** Each names a process that runs greenloop from there. */
const USER = "greenloop-user-";
const DAY = 24 * 3600 * 1000;

/** The Python of an environment. */
export function inside(environment: string): string {
  return process.platform === "win32"
    ? join(environment, "Scripts", "python.exe")
    : join(environment, "bin", "python");
}

function home(context: vscode.ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, "environments");
}

/** The Python of the newest finished environment. */
export async function ownPython(context: vscode.ExtensionContext): Promise<string | undefined> {
  const [newest] = await finished(context);
  return newest === undefined ? undefined : inside(newest.folder);
}

/** An empty folder for another environment. */
export async function fresh(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(home(context), randomBytes(4).toString("hex"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, MAKER), String(process.pid));
  return folder;
}

export async function finish(folder: string, version: string): Promise<void> {
  await writeFile(join(folder, COMPLETE), version);
}

export async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Another window may run for days what is replaced meanwhile: whoever uses an environment is named in it. */
export async function use(context: vscode.ExtensionContext, python: string): Promise<void> {
  const used = (await finished(context)).find(({ folder }) => inside(folder) === python);
  if (used !== undefined) {
    await writeFile(join(used.folder, `${USER}${process.pid}`), "");
  }
}

/** Removes what nobody uses: half-made ones whose maker is gone, and those that were replaced a day ago. */
export async function sweep(context: vscode.ExtensionContext): Promise<void> {
  const [newest, ...older] = await finished(context);
  // Another window may be about to run what was replaced just now.
  const replaced = newest !== undefined && Date.now() - newest.at > DAY ? older.map((one) => one.folder) : [];
  const unused = await Promise.all(replaced.map(async (folder) => ((await inUse(folder)) ? [] : [folder])));
  const whole = new Set([newest, ...older].map((one) => one?.folder));
  const half = (await folders(context)).filter((folder) => !whole.has(folder));
  const left = await Promise.all(half.map(async (folder) => ((await inTheMaking(folder)) ? [] : [folder])));
  await Promise.all([...unused.flat(), ...left.flat()].map(remove));
}

async function inTheMaking(folder: string): Promise<boolean> {
  return alive(await readFile(join(folder, MAKER), "utf8").catch(() => ""));
}

async function inUse(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => [] as string[]);
  return names.some((name) => name.startsWith(USER) && alive(name.slice(USER.length)));
}

function alive(pid: string): boolean {
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

async function finished(context: vscode.ExtensionContext): Promise<{ folder: string; at: number }[]> {
  const all = await folders(context);
  const dated = await Promise.all(
    all.map(async (folder) => {
      const mark = await stat(join(folder, COMPLETE)).catch(() => undefined);
      return mark === undefined ? [] : [{ folder, at: mark.mtimeMs }];
    }),
  );
  return dated.flat().sort((a, b) => b.at - a.at);
}

async function folders(context: vscode.ExtensionContext): Promise<string[]> {
  const names = await readdir(home(context)).catch(() => [] as string[]);
  return names.map((name) => join(home(context), name));
}
