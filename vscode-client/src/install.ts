// Installs the greenloop that the extension carries into an environment of its own, and chooses interpreters.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as vscode from "vscode";

import { finish, fresh, inside, remove, sweep } from "./environment";
import type { Host, Register } from "./host";
import { Bounded } from "./output";
import { ask, needed, neutral, onPath, places, type Python, recent, setting } from "./python";
import { endAll, type Ran, run } from "./run";
import { CHOOSE, ended, LOG } from "./troubles";

const RETRY = { title: "Retry", command: "greenloop.run.install" };
/** The versions of Python that the hashes of constraints.txt were collected for. */
const LOCKED = [11, 14] as const;

/** A sentence for people. */
class Failure extends Error {}

class Cancelled extends Error {}

interface Tools {
  host: Host;
  token: vscode.CancellationToken;
  report: (message: string) => void;
}

/** The Pythons that can make an environment, the most wanted first. */
async function* makers(host: Host): AsyncGenerator<Python> {
  const folder = await neutral(host.context);
  const named = setting();
  const all = [...(named === "" ? [] : [named]), ...onPath()];
  for (const path of all) {
    const python = await ask(path, folder);
    if (python !== undefined && recent(python)) {
      yield python;
    }
  }
  for await (const path of places(host.context)) {
    const python = all.includes(path) ? undefined : await ask(path, folder);
    if (python !== undefined && recent(python)) {
      yield python;
    }
  }
}

/** What pip is given: hashes where they were collected for this Python, else the ranges that greenloop asks for. */
async function requirements(host: Host, python: Python, folder: string): Promise<string[]> {
  const carried = join(host.context.extensionPath, "server");
  const wheel = (await readdir(carried).catch(() => [] as string[])).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    throw new Failure("This build of the extension carries no greenloop; install the package greenloop by hand.");
  }
  const [, minor] = python.version;
  const where = pathToFileURL(join(carried, wheel)).href;
  if (minor >= LOCKED[0] && minor <= LOCKED[1]) {
    const file = join(folder, "requirements.txt");
    const hash = (await readFile(join(carried, "greenloop.sha256"), "utf8")).trim();
    const pins = await readFile(join(carried, "constraints.txt"), "utf8");
    await writeFile(file, `greenloop[local] @ ${where} --hash=sha256:${hash}\n${pins}`);
    return ["--require-hashes", "-r", file];
  }
  host.log.warn(`No hashes were collected for Python 3.${minor}: pip resolves the packages, without hashes.`);
  return [`greenloop[local] @ ${where}`];
}

async function make({ host, token, report }: Tools): Promise<void> {
  report("looking for Python");
  await sweep(host.context);
  const log = new Bounded((line) => host.log.info(`install: ${line}`));
  let last = "no Python 3.11 or newer was found.";
  for await (const python of makers(host)) {
    const folder = await fresh(host.context);
    try {
      const version = python.version.join(".");
      host.log.info(`Making an environment in ${folder} with ${python.path} (Python ${version}).`);
      report(`making an environment with Python ${version}`);
      const told = { folder, token, line: (line: string) => log.take(line) };
      const made = await run(python.path, ["-I", "-m", "venv", folder], told);
      stop(token);
      if (made.code !== 0) {
        // Debian's Python has no venv without a package of its own; another Python may have.
        last = `${python.path} cannot make environments: ${ended(made.tail, "venv failed")}`;
        host.log.warn(last);
        await remove(folder);
        continue;
      }
      await fill({ host, token, report }, python, folder, log);
      return;
    } catch (error) {
      await remove(folder);
      throw error;
    }
  }
  throw new Failure(last);
}

async function fill({ host, token, report }: Tools, base: Python, folder: string, log: Bounded): Promise<void> {
  const python = inside(folder);
  // Whatever pip is set to on this machine, it installs into this environment.
  const env = { ...process.env, PIP_USER: "0", PIP_REQUIRE_VIRTUALENV: "0", PIP_NO_INPUT: "1" };
  const line = (text: string): void => {
    log.take(text);
    const step = /^\s*(Collecting|Downloading|Installing) ([^\s@]+)(?:.*(\([\d.]+ [kM]B\)))?/.exec(text);
    if (step !== null) {
      report([step[1]?.toLowerCase(), step[1] === "Installing" ? "" : name(step[2] ?? ""), step[3]].join(" ").trim());
    }
  };
  const wanted = await requirements(host, base, folder);
  const flags = ["--disable-pip-version-check", "--progress-bar", "off", "--no-color"];
  const ran: Ran = await run(python, ["-I", "-m", "pip", "install", ...flags, ...wanted], { folder, env, token, line });
  log.close();
  stop(token);
  if (ran.code !== 0) {
    const errors = ran.tail.filter((one) => one.startsWith("ERROR:"));
    throw new Failure(ended(errors.slice(0, 1).map((one) => one.slice(7)), ended(ran.tail, "pip failed")));
  }
  report("trying it");
  const tried = await ask(python, folder);
  if (tried?.greenloop !== needed(host.context)) {
    throw new Failure(`the installed greenloop does not answer as ${needed(host.context)}`);
  }
  await finish(folder, tried.greenloop);
}

/** `https://…/httpx-0.28.1-py3-none-any.whl` and `httpx==0.28.1` are httpx. */
function name(what: string): string {
  return (/([^/]+)$/.exec(what)?.[1] ?? what).replace(/(==|-\d).*$/, "").replace(/\[.*$/, "");
}

function stop(token: vscode.CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new Cancelled();
  }
}

/** Whether greenloop is installed now. */
async function install(host: Host): Promise<boolean> {
  const version = needed(host.context);
  const before = host.standing;
  // A server that runs goes on until the new one is there.
  if (before.state === "error") {
    host.stand("starting", `greenloop ${version} is being installed.`);
  }
  const meanwhile = host.standing;
  try {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Installing greenloop ${version}`, cancellable: true },
      (progress, token) => make({ host, token, report: (message) => progress.report({ message }) }),
    );
  } catch (error) {
    if (host.standing === meanwhile) {
      host.stand(before.state, before.said);
    }
    if (error instanceof Cancelled) {
      host.log.info("The installation was cancelled; nothing of it is left.");
      return false;
    }
    host.log.error(error instanceof Error && !(error instanceof Failure) ? error : String(error));
    const why = error instanceof Error ? error.message : String(error);
    host.problems.forget();
    host.problems.show({
      reason: "install",
      message: `greenloop could not be installed: ${why}`,
      buttons: [RETRY, CHOOSE, LOG],
    });
    return false;
  }
  host.log.info(`greenloop ${version} is installed.`);
  host.problems.forget();
  if (setting() === "") {
    await host.restart();
  } else {
    // The setting would win over what was installed just now; its change restarts.
    await vscode.workspace.getConfiguration("greenloop").update("python", undefined, vscode.ConfigurationTarget.Global);
  }
  return true;
}

/** Lets the user choose, and keeps the choice in the setting. */
async function choose(host: Host): Promise<void> {
  const folder = await neutral(host.context);
  const version = needed(host.context);
  const items = async (): Promise<(vscode.QuickPickItem & { path?: string })[]> => {
    const found = new Map<string, vscode.QuickPickItem & { path?: string }>();
    for await (const path of places(host.context)) {
      const python = await ask(path, folder);
      if (python !== undefined && recent(python)) {
        const its = python.greenloop === null ? "without greenloop" : `greenloop ${python.greenloop}`;
        found.set(path, { label: path, description: `Python ${python.version.join(".")}, ${its}`, path });
      }
    }
    return [...found.values(), { label: "$(folder) Another …" }];
  };
  const placeHolder = `The Python that runs greenloop ${version} or newer`;
  const chosen = await vscode.window.showQuickPick(items(), { title: "greenloop: Choose Interpreter", placeHolder });
  if (chosen === undefined) {
    return;
  }
  const picked = chosen.path ?? (await vscode.window.showOpenDialog({ title: placeHolder }))?.[0]?.fsPath;
  if (picked !== undefined) {
    host.problems.forget();
    if (picked === setting()) {
      // No change that anybody would hear of; what is there may have been mended.
      await host.restart();
      return;
    }
    await vscode.workspace.getConfiguration("greenloop").update("python", picked, vscode.ConfigurationTarget.Global);
  }
}

export const register: Register = (host) => {
  let going: Promise<boolean> | undefined;
  host.context.subscriptions.push(
    { dispose: endAll },
    vscode.commands.registerCommand("greenloop.run.install", () => {
      going ??= install(host).finally(() => (going = undefined));
      return going;
    }),
    vscode.commands.registerCommand("greenloop.run.interpreter", () => choose(host)),
  );
};
