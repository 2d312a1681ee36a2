// The commands of the palette and the menus: each finds its target and calls the server.
//
// Extensions cannot add menus to the Problems view; there, a diagnostic's menu shows the server's code actions.

import * as vscode from "vscode";

import { isSameTarget } from "../attemptUri";
import { type CommandTarget, findFileTargets, findTestTargets, pythonEditor } from "../commandTargets";
import { formatRun } from "../formatting";
import type { Host } from "../host";
import { type Choices, type GoalChoice, METHODS, type Report, type Run, type TargetRef } from "../protocol";
import { isTargetRef, runStoreOf } from "../runStore";
import { executeCommand, request, warn } from "../serverRequests";
import { AttemptNode, RunNode } from "./attemptsView";
import { attemptShownIn, openDiff } from "./diff";

type Handler = (...args: unknown[]) => Promise<void>;

const STARTING_COMMANDS = new Set(["greenloop.refine", "greenloop.refineAll", "greenloop.runTest"]);

const GOAL_DETAILS: Readonly<Record<GoalChoice["goal"], string>> = {
  time: "Less time for what the tests call, measured against your code",
  memory: "Less memory at its peak for what the tests call",
  limits: "Within the limits of greenloop.spec.constraints",
  comment: "What you write next; the result is shown to you first",
};

export function register(host: Host): void {
  const runs = runStoreOf(host);

  async function startFromEditor(command: string, ...args: object[]): Promise<unknown> {
    await keepTabOpen(command, args[0]);
    return executeCommand(host, command, ...args);
  }

  /** Picks the run passed by a menu, else the only eligible run, preferably of the editor; else the user chooses. */
  async function pickRun(args: readonly unknown[], isEligible: (run: Run) => boolean, noneMessage: string): Promise<TargetRef | undefined> {
    const [first] = args;
    if (first instanceof RunNode || first instanceof AttemptNode) {
      return first.run;
    }
    if (isTargetRef(first)) {
      return first;
    }
    const eligible = runs.all.filter(isEligible);
    const shownAttempt = attemptShownIn(vscode.window.tabGroups.activeTabGroup.activeTab);
    const activeUri = pythonEditor()?.document.uri.toString();
    const ofEditor = eligible.filter((run) => (shownAttempt === undefined ? run.uri === activeUri : isSameTarget(run, shownAttempt)));
    // While the editor shows an attempt of another run, the user chooses.
    const unambiguous = ofEditor.length === 1 ? ofEditor[0] : eligible.length === 1 && shownAttempt === undefined ? eligible[0] : undefined;
    if (unambiguous !== undefined) {
      return unambiguous;
    }
    if (eligible.length === 0) {
      warn(host, "none", noneMessage, { title: "Show Attempts", command: "greenloop.attempts.focus" });
      return undefined;
    }
    const items = [...ofEditor, ...eligible.filter((run) => !ofEditor.includes(run))].map((run) => ({
      label: run.name,
      description: formatRun(run),
      detail: run.target,
      run,
    }));
    return (await vscode.window.showQuickPick(items, { placeHolder: "Which refinement?", matchOnDetail: true }))?.run;
  }

  /** Makes a command that applies to one run. */
  function runCommand(command: string, isEligible: (run: Run) => boolean, noneMessage: string): Handler {
    return async (...args) => {
      const run = await pickRun(args, isEligible, noneMessage);
      if (run !== undefined) {
        await executeCommand(host, command, toTargetRef(run));
      }
    };
  }

  /** Makes a command that applies to targets in files. */
  function targetCommand(command: string, find: (args: readonly unknown[]) => CommandTarget[], groupCommand?: string): Handler {
    return async (...args) => {
      for (const { isGroup, ...target } of warnIfEmpty(host, find(args), args)) {
        await startFromEditor(isGroup && groupCommand !== undefined ? groupCommand : command, target);
      }
    };
  }

  const handlers: Record<string, Handler> = {
    "greenloop.here.refine": targetCommand("greenloop.refine", findTestTargets, "greenloop.refineAll"),
    "greenloop.here.refineAll": targetCommand("greenloop.refineAll", findFileTargets),
    "greenloop.here.run": targetCommand("greenloop.runTest", findTestTargets),
    "greenloop.here.runFile": targetCommand("greenloop.runTest", findFileTargets),
    "greenloop.here.preset": async (...args) => {
      const targets = warnIfEmpty(host, findTestTargets(args).filter((target) => !target.isGroup), args);
      const preset = targets[0] === undefined ? undefined : await pickPreset(host, targets[0].uri);
      for (const target of preset === undefined ? [] : targets) {
        await startFromEditor("greenloop.refine", { uri: target.uri, position: target.position, preset });
      }
    },
    "greenloop.here.improve": async (...args) => {
      const [target] = warnIfEmpty(host, findTestTargets(args), args);
      const wanted = target === undefined ? undefined : await pickGoal(host, target);
      if (target !== undefined && wanted !== undefined) {
        await startFromEditor("greenloop.refine", { uri: target.uri, position: target.position, ...wanted });
      }
    },
    "greenloop.here.cancel": runCommand("greenloop.cancel", (run) => run.phase !== "over", "No refinement is running."),
    "greenloop.here.apply": runCommand("greenloop.apply", (run) => run.offered, "There is no result to apply."),
    "greenloop.here.discard": runCommand("greenloop.discard", (run) => run.phase === "over", "There is no finished refinement to discard."),
    "greenloop.here.attempts": runCommand(
      "greenloop.showAttempts",
      (run) => run.attempts.length > 0,
      "There are no attempts yet.",
    ),
    "greenloop.here.clear": async () => {
      const offered = runs.all.filter((run) => run.offered).length;
      const results = offered === 1 ? "1 result that has not been applied" : `${offered} results that have not been applied`;
      const confirmDiscard = () => vscode.window.showWarningMessage(`Discard ${results}?`, { modal: true }, "Discard");
      if (offered === 0 || (await confirmDiscard()) !== undefined) {
        await executeCommand(host, "greenloop.discard");
      }
    },
    "greenloop.here.cancelAll": async () => {
      await executeCommand(host, "greenloop.cancel");
    },
    "greenloop.here.diff": async (...args) => {
      const [node] = args;
      if (node instanceof AttemptNode) {
        await openDiff(host, { ...toTargetRef(node.run), attempt: node.attempt.attempt }, true);
        return;
      }
      const run = await pickRun(args, (each) => each.result !== null, "There is no result to compare with your code.");
      const current = run === undefined ? undefined : runs.find(run);
      if (current?.result != null) {
        await openDiff(host, { ...toTargetRef(current), attempt: current.result }, true);
      }
    },
    "greenloop.here.report": async (...args) => {
      const run = await pickRun(args, (each) => each.attempts.length > 0, "There are no attempts yet.");
      const report = run === undefined ? undefined : await request<Report>(host, METHODS.report, toTargetRef(run));
      if (report !== undefined) {
        await vscode.env.clipboard.writeText(report.markdown);
        vscode.window.setStatusBarMessage("$(check) Report copied", 3000);
      }
    },
    "greenloop.run.doctor": async () => {
      const uri = pythonEditor()?.document.uri.toString();
      await executeCommand(host, "greenloop.doctor", ...(uri === undefined ? [] : [{ uri }]));
    },
    "greenloop.run.pullModel": async () => {
      await executeCommand(host, "greenloop.pullModel");
    },
  };
  // Commands of code lenses and code actions report errors in the same way as those of the palette.
  host.middleware.executeCommand = (command, args) => startFromEditor(command, ...(args as object[]));
  for (const [id, handler] of Object.entries(handlers)) {
    host.context.subscriptions.push(vscode.commands.registerCommand(id, handler));
  }
}

/** Warns if there are no targets, and says where to find some. */
function warnIfEmpty(host: Host, targets: CommandTarget[], args: readonly unknown[]): CommandTarget[] {
  if (targets.length === 0 && args.length > 0 && pythonEditor() !== undefined) {
    warn(host, "no-tests", "The selection contains no Python tests.", {
      title: "Show Tests",
      command: "workbench.view.testing.focus",
    });
  } else if (targets.length === 0) {
    warn(host, "no-editor", "Open a Python file and put the cursor in a test or a function.", {
      title: "Open File…",
      command: "workbench.action.quickOpen",
      arguments: ["test_"],
    });
  }
  return targets;
}

async function pickPreset(host: Host, uri: string): Promise<string | undefined> {
  const choices = await request<Choices>(host, METHODS.choices, { uri });
  const items = choices?.presets.map(({ name, about }) => ({
    label: name,
    description: name === choices.preset ? "from the settings" : "",
    detail: about,
  }));
  const options = { placeHolder: "Preset for this refinement", matchOnDetail: true };
  return items === undefined ? undefined : (await vscode.window.showQuickPick(items, options))?.label;
}

/** Asks what the function at the cursor is to become, and for a comment how. */
async function pickGoal(host: Host, target: CommandTarget): Promise<{ goal: string; comment?: string } | undefined> {
  const choices = await request<Choices>(host, METHODS.choices, { uri: target.uri, position: target.position });
  if (choices?.goals.length === 0) {
    warn(host, "none", "Put the cursor in a function whose tests pass. Tests are not improved.");
  }
  const items = choices?.goals.map((choice) => ({
    label: choice.goal === "comment" && choice.comment === "" ? "as a comment says…" : choice.said,
    detail: choice.comment || GOAL_DETAILS[choice.goal],
    choice,
  }));
  if (items === undefined || items.length === 0) {
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(items, { placeHolder: "Improve while tests pass", matchOnDetail: true });
  if (picked?.choice.goal !== "comment") {
    return picked === undefined ? undefined : { goal: picked.choice.goal };
  }
  const prompt = "What should change? The tests must still pass.";
  const comment = await vscode.window.showInputBox({ prompt, value: picked.choice.comment, ignoreFocusOut: true });
  // What stands in the code is sent with it anyway.
  const typed = comment === picked.choice.comment ? undefined : comment?.trim();
  return comment === undefined || comment.trim() === "" ? undefined : { goal: "comment", ...(typed === undefined ? {} : { comment: typed }) };
}

/** Pins a preview tab: the run ends when its document closes, and the next click would replace a preview. */
async function keepTabOpen(command: string, argument: unknown): Promise<void> {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  if (!STARTING_COMMANDS.has(command) || !tab?.isPreview || !(tab.input instanceof vscode.TabInputText)) {
    return;
  }
  const uri = typeof argument === "object" && argument !== null && "uri" in argument ? argument.uri : undefined;
  if (typeof uri === "string" && vscode.Uri.parse(uri).toString() === tab.input.uri.toString()) {
    await vscode.commands.executeCommand("workbench.action.keepEditor");
  }
}

/** Buttons of the chat pass the run itself. */
function toTargetRef({ uri, target }: TargetRef): TargetRef {
  return { uri, target };
}
