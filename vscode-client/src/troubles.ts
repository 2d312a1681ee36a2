// What can be wrong with the start, in a sentence each, with the buttons that fix it.

import type * as vscode from "vscode";

import type { Button, Problem } from "./problem";
import { type Found, needed } from "./python";

export const CHOOSE: Button = { title: "Choose Interpreter", command: "greenloop.run.interpreter" };
export const LOG: Button = { title: "Show Log", command: "greenloop.run.log" };
export const RESTART: Button = { title: "Restart", command: "greenloop.run.restart" };

export function install(version: string): Button {
  return { title: `Install greenloop ${version}`, command: "greenloop.run.install" };
}

/** Why no Python fits. */
export function notFound(found: Exclude<Found, { kind: "fits" }>, context: vscode.ExtensionContext): Problem {
  const version = needed(context);
  const buttons = [install(version), CHOOSE];
  switch (found.kind) {
    case "old":
      return {
        reason: "old",
        message:
          `greenloop ${found.python.greenloop ?? ""} of ${found.python.path} is too old for this extension ` +
          `(${version} or newer is needed).`,
        buttons,
      };
    case "without":
      return {
        reason: "missing",
        message: "greenloop is not installed yet. It can be installed into an environment of its own.",
        buttons: [{ ...install(version), title: "Install" }, CHOOSE],
        severity: "information",
      };
    case "named":
      return {
        reason: "interpreter",
        message:
          found.version === undefined
            ? `${found.path} (setting greenloop.python) is no Python that answers.`
            : `${found.path} (setting greenloop.python) is Python ${found.version}; greenloop runs on 3.11 or newer.`,
        buttons: [CHOOSE, install(version)],
      };
    case "none":
      return {
        reason: "python",
        message: "No Python 3.11 or newer was found; greenloop needs one to run on.",
        buttons: [CHOOSE],
      };
  }
}

/** The server fell while these were refined. */
export function lost(names: readonly string[]): Problem {
  return {
    reason: "lost",
    message: `greenloop's server has ended unexpectedly and is started again; not refined to the end: ${names.join(", ")}.`,
    buttons: [{ title: "Show Attempts", command: "greenloop.attempts.focus" }, LOG],
    severity: "warning",
  };
}

export function crashing(last: string): Problem {
  return {
    reason: "crashed",
    message: `greenloop's server has ended again and again, and is not restarted any more: ${last}`,
    buttons: [RESTART, LOG],
  };
}

export function broken(why: string): Problem {
  return { reason: "start", message: `greenloop could not be started: ${why}`, buttons: [RESTART, LOG] };
}

/** The last thing that a process said, or how it ended. */
export function ended(tail: readonly string[], how: string): string {
  const last = tail.at(-1)?.trim() || `${how}.`;
  return last.length > 200 ? `${last.slice(0, 200)} …` : last;
}

/** A folder that is on no disk of this machine. */
export function remote(folder: vscode.WorkspaceFolder): Problem {
  return {
    reason: "remote",
    message:
      `greenloop runs tests on files of this machine: the folder ${folder.name} (${folder.uri.scheme}:) is left out.`,
    buttons: [{ title: "Open a Folder", command: "workbench.action.files.openFolder" }],
    severity: "warning",
  };
}
