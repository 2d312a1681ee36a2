// The problems that can keep the server from starting or running, each with the buttons that fix it.

import type * as vscode from "vscode";

import type { Button, Problem } from "./problem";
import { extensionVersion, type SearchResult } from "./python";

export const CHOOSE_INTERPRETER: Button = { title: "Choose Interpreter", command: "greenloop.run.interpreter" };
export const SHOW_LOG: Button = { title: "Show Log", command: "greenloop.run.log" };
export const RESTART: Button = { title: "Restart", command: "greenloop.run.restart" };

export function installButton(version: string): Button {
  return { title: `Install greenloop ${version}`, command: "greenloop.run.install" };
}

/** Explains why no Python can be used. */
export function pythonProblem(result: Exclude<SearchResult, { kind: "usable" }>, context: vscode.ExtensionContext): Problem {
  const version = extensionVersion(context);
  const buttons = [installButton(version), CHOOSE_INTERPRETER];
  switch (result.kind) {
    case "outdated":
      return {
        reason: "old",
        message:
          `greenloop ${result.python.greenloop ?? ""} (${result.python.path}) is too old for this extension, ` +
          `which needs ${version} or newer.`,
        buttons,
      };
    case "notInstalled":
      return {
        reason: "missing",
        message: "greenloop is not installed yet. The extension can install it into an environment of its own.",
        buttons: [{ ...installButton(version), title: "Install" }, CHOOSE_INTERPRETER],
        severity: "information",
      };
    case "badSetting":
      return {
        reason: "interpreter",
        message:
          result.version === undefined
            ? `${result.path} (setting greenloop.python) does not run as a Python interpreter.`
            : `${result.path} (setting greenloop.python) is Python ${result.version}, but greenloop needs 3.11 or newer.`,
        buttons: [CHOOSE_INTERPRETER, installButton(version)],
      };
    case "noPython":
      return {
        reason: "python",
        message: "greenloop needs Python 3.11 or newer, and none was found. Install one, or choose its interpreter.",
        buttons: [CHOOSE_INTERPRETER],
      };
  }
}

/** The server crashed while these runs were active. */
export function interruptedRuns(names: readonly string[]): Problem {
  return {
    reason: "lost",
    message: `The greenloop server stopped unexpectedly and is being restarted. Interrupted: ${names.join(", ")}.`,
    buttons: [{ title: "Show Attempts", command: "greenloop.attempts.focus" }, SHOW_LOG],
    severity: "warning",
  };
}

export function crashLoop(lastOutput: string): Problem {
  return {
    reason: "crashed",
    message: `The greenloop server keeps crashing and will not be restarted: ${lastOutput}`,
    buttons: [RESTART, SHOW_LOG],
  };
}

export function startFailed(reason: string): Problem {
  return { reason: "start", message: `greenloop could not be started: ${reason}`, buttons: [RESTART, SHOW_LOG] };
}

/** The last line that a process printed, else how it exited. */
export function describeExit(tail: readonly string[], exit: string): string {
  const last = tail.at(-1)?.trim() || `${exit}.`;
  return last.length > 200 ? `${last.slice(0, 200)} …` : last;
}

/** A folder that is not on a disk of this machine. */
export function unsupportedFolder(folder: vscode.WorkspaceFolder): Problem {
  return {
    reason: "remote",
    message:
      `greenloop ignores the folder ${folder.name} (${folder.uri.scheme}:), because it works only on files on disk.`,
    buttons: [{ title: "Open Folder…", command: "workbench.action.files.openFolder" }],
    severity: "warning",
  };
}
