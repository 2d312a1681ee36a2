// Installs the bundled greenloop into an environment managed by the extension, and lets the user choose an interpreter.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as vscode from "vscode";

import { killAll, type ProcessResult, runProcess } from "./childProcess";
import type { Host, RegisterFeature } from "./host";
import { createFolder, markComplete, pythonIn, removeEnvironment, removeUnused } from "./managedEnvironments";
import { OutputLimiter } from "./processOutput";
import { candidatePaths, emptyFolder, extensionVersion, isSupported, namesOnPath, probePython, type Python, pythonSetting } from "./python";
import { CHOOSE_INTERPRETER, describeExit, SHOW_LOG } from "./startupProblems";

const RETRY = { title: "Retry", command: "greenloop.run.install" };
/** First and last minor version of Python 3 for which constraints.txt has hashes. */
const HASHED_MINORS = [11, 14] as const;

/** Its message is shown to the user. */
class InstallError extends Error {}

class InstallCancelled extends Error {}

interface Installation {
  host: Host;
  token: vscode.CancellationToken;
  report: (message: string) => void;
}

/** The Pythons that may create an environment, the preferred ones first. */
async function* basePythons(host: Host): AsyncGenerator<Python> {
  const folder = await emptyFolder(host.context);
  const configured = pythonSetting();
  const preferred = [...(configured === "" ? [] : [configured]), ...namesOnPath()];
  for (const path of preferred) {
    const python = await probePython(path, folder);
    if (python !== undefined && isSupported(python)) {
      yield python;
    }
  }
  for await (const path of candidatePaths(host.context)) {
    const python = preferred.includes(path) ? undefined : await probePython(path, folder);
    if (python !== undefined && isSupported(python)) {
      yield python;
    }
  }
}

/** Arguments for pip: pinned with hashes if there are any for this Python, else greenloop's own version ranges. */
async function pipRequirements(host: Host, python: Python, folder: string): Promise<string[]> {
  const bundled = join(host.context.extensionPath, "server");
  const wheel = (await readdir(bundled).catch(() => [] as string[])).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    throw new InstallError("this build of the extension does not include greenloop. Install the Python package greenloop, then choose its interpreter.");
  }
  const [, minor] = python.version;
  const wheelUrl = pathToFileURL(join(bundled, wheel)).href;
  if (minor >= HASHED_MINORS[0] && minor <= HASHED_MINORS[1]) {
    const file = join(folder, "requirements.txt");
    const hash = (await readFile(join(bundled, "greenloop.sha256"), "utf8")).trim();
    const pins = await readFile(join(bundled, "constraints.txt"), "utf8");
    await writeFile(file, `greenloop[local,mcp] @ ${wheelUrl} --hash=sha256:${hash}\n${pins}`);
    return ["--require-hashes", "-r", file];
  }
  host.log.warn(`There are no hashes for Python 3.${minor}: pip does not check the downloaded packages against hashes.`);
  return [`greenloop[local,mcp] @ ${wheelUrl}`];
}

async function createEnvironment({ host, token, report }: Installation): Promise<void> {
  report("looking for Python");
  await removeUnused(host.context);
  const log = new OutputLimiter((line) => host.log.info(`install: ${line}`));
  let lastFailure = "no Python 3.11 or newer was found.";
  for await (const python of basePythons(host)) {
    const folder = await createFolder(host.context);
    try {
      const version = python.version.join(".");
      host.log.info(`Creating an environment in ${folder} with ${python.path} (Python ${version}).`);
      report(`creating an environment with Python ${version}`);
      const options = { cwd: folder, token, onLine: (line: string) => log.add(line) };
      const venv = await runProcess(python.path, ["-I", "-m", "venv", folder], options);
      throwIfCancelled(token);
      if (venv.code !== 0) {
        // Debian ships venv as a separate package, so another Python may work.
        lastFailure = `${python.path} cannot create environments: ${describeExit(venv.tail, "venv failed")}`;
        host.log.warn(lastFailure);
        await removeEnvironment(folder);
        continue;
      }
      await installPackages({ host, token, report }, python, folder, log);
      return;
    } catch (error) {
      await removeEnvironment(folder);
      throw error;
    }
  }
  throw new InstallError(lastFailure);
}

async function installPackages({ host, token, report }: Installation, base: Python, folder: string, log: OutputLimiter): Promise<void> {
  const python = pythonIn(folder);
  // Overrides pip's configuration on this machine: the packages go into this environment.
  const env = { ...process.env, PIP_USER: "0", PIP_REQUIRE_VIRTUALENV: "0", PIP_NO_INPUT: "1" };
  const onLine = (text: string): void => {
    log.add(text);
    const step = /^\s*(Collecting|Downloading|Installing) ([^\s@]+)(?:.*(\([\d.]+ [kM]B\)))?/.exec(text);
    if (step !== null) {
      report([step[1]?.toLowerCase(), step[1] === "Installing" ? "" : packageName(step[2] ?? ""), step[3]].join(" ").trim());
    }
  };
  const requirements = await pipRequirements(host, base, folder);
  const flags = ["--disable-pip-version-check", "--progress-bar", "off", "--no-color"];
  const pip: ProcessResult = await runProcess(python, ["-I", "-m", "pip", "install", ...flags, ...requirements], { cwd: folder, env, token, onLine });
  log.reportSkipped();
  throwIfCancelled(token);
  if (pip.code !== 0) {
    const errors = pip.tail.filter((line) => line.startsWith("ERROR:"));
    throw new InstallError(describeExit(errors.slice(0, 1).map((line) => line.slice(7)), describeExit(pip.tail, "pip failed")));
  }
  report("checking the installation");
  const installed = await probePython(python, folder);
  if (installed?.greenloop !== extensionVersion(host.context)) {
    throw new InstallError(`the installed greenloop does not report version ${extensionVersion(host.context)}.`);
  }
  await markComplete(folder, installed.greenloop);
}

/** Turns `https://…/httpx-0.28.1-py3-none-any.whl` and `httpx==0.28.1` into `httpx`. */
function packageName(requirement: string): string {
  return (/([^/]+)$/.exec(requirement)?.[1] ?? requirement).replace(/(==|-\d).*$/, "").replace(/\[.*$/, "");
}

function throwIfCancelled(token: vscode.CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new InstallCancelled();
  }
}

/** Returns whether greenloop is installed now. */
async function install(host: Host): Promise<boolean> {
  const version = extensionVersion(host.context);
  const previous = host.serverStatus;
  // A running server keeps running until the new one is ready.
  if (previous.state === "error") {
    host.setServerStatus("starting", `Installing greenloop ${version}.`);
  }
  const installing = host.serverStatus;
  try {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Installing greenloop ${version}`, cancellable: true },
      (progress, token) => createEnvironment({ host, token, report: (message) => progress.report({ message }) }),
    );
  } catch (error) {
    if (host.serverStatus === installing) {
      host.setServerStatus(previous.state, previous.message);
    }
    if (error instanceof InstallCancelled) {
      host.log.info("The installation was cancelled, and its files were removed.");
      return false;
    }
    host.log.error(error instanceof Error && !(error instanceof InstallError) ? error : String(error));
    const reason = error instanceof Error ? error.message : String(error);
    host.problems.allowRepeats();
    host.problems.show({
      reason: "install",
      message: `greenloop could not be installed: ${reason}`,
      buttons: [RETRY, CHOOSE_INTERPRETER, SHOW_LOG],
    });
    return false;
  }
  host.log.info(`greenloop ${version} is installed.`);
  host.problems.allowRepeats();
  if (pythonSetting() === "") {
    await host.restart();
  } else {
    // The setting would take precedence over the new installation; clearing it restarts the server.
    await vscode.workspace.getConfiguration("greenloop").update("python", undefined, vscode.ConfigurationTarget.Global);
  }
  return true;
}

/** Lets the user choose an interpreter, and saves it in the setting. */
async function chooseInterpreter(host: Host): Promise<void> {
  const folder = await emptyFolder(host.context);
  const version = extensionVersion(host.context);
  const listInterpreters = async (): Promise<(vscode.QuickPickItem & { path?: string })[]> => {
    const items = new Map<string, vscode.QuickPickItem & { path?: string }>();
    for await (const path of candidatePaths(host.context)) {
      const python = await probePython(path, folder);
      if (python !== undefined && isSupported(python)) {
        const installed = python.greenloop === null ? "without greenloop" : `greenloop ${python.greenloop}`;
        items.set(path, { label: path, description: `Python ${python.version.join(".")}, ${installed}`, path });
      }
    }
    return [...items.values(), { label: "$(folder) Browse…" }];
  };
  const placeHolder = `Choose the Python that runs greenloop (${version} or newer)`;
  const chosen = await vscode.window.showQuickPick(listInterpreters(), { title: "greenloop: Choose Interpreter", placeHolder });
  if (chosen === undefined) {
    return;
  }
  const picked = chosen.path ?? (await vscode.window.showOpenDialog({ title: placeHolder }))?.[0]?.fsPath;
  if (picked !== undefined) {
    host.problems.allowRepeats();
    if (picked === pythonSetting()) {
      // The setting does not change, so nothing else restarts; that Python may have been repaired meanwhile.
      await host.restart();
      return;
    }
    await vscode.workspace.getConfiguration("greenloop").update("python", picked, vscode.ConfigurationTarget.Global);
  }
}

export const register: RegisterFeature = (host) => {
  let installation: Promise<boolean> | undefined;
  host.context.subscriptions.push(
    { dispose: killAll },
    vscode.commands.registerCommand("greenloop.run.install", () => {
      installation ??= install(host).finally(() => (installation = undefined));
      return installation;
    }),
    vscode.commands.registerCommand("greenloop.run.interpreter", () => chooseInterpreter(host)),
  );
};
