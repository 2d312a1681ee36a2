// The commands of the palette and the menus: each finds what it is about, the server does the rest.
//
// The Problems view has no menu for extensions; there a diagnostic's own menu shows the server's code actions.

import * as vscode from "vscode";

import { execute, request, warn } from "../ask";
import { same } from "../attemptUri";
import type { Host } from "../host";
import { type Choices, METHODS, type Named, type Report, type Run } from "../protocol";
import { runsOf } from "../runs";
import { filesOf, pythonEditor, type Spot, spotsOf } from "../spots";
import { runLine } from "../words";
import { AttemptNode, RunNode } from "./attempts";
import { attemptIn, openDiff } from "./diff";

type Handler = (...args: unknown[]) => Promise<void>;

const WORKS = new Set(["greenloop.refine", "greenloop.refineAll", "greenloop.runTest"]);

export function register(host: Host): void {
  const runs = runsOf(host);

  async function start(command: string, ...about: object[]): Promise<unknown> {
    await keepOpen(command, about[0]);
    return execute(host, command, ...about);
  }

  /** The run that a menu handed over, or of the runs in question that of the editor; else the user is asked. */
  async function which(args: readonly unknown[], isMeant: (run: Run) => boolean, none: string): Promise<Named | undefined> {
    const [first] = args;
    if (first instanceof RunNode || first instanceof AttemptNode) {
      return first.run;
    }
    const found = runs.all.filter(isMeant);
    const shown = attemptIn(vscode.window.tabGroups.activeTabGroup.activeTab);
    const here = pythonEditor()?.document.uri.toString();
    const mine = found.filter((run) => (shown === undefined ? run.uri === here : same(run, shown)));
    // Who looks at an attempt of another run says himself which one he means.
    const only = mine.length === 1 ? mine[0] : found.length === 1 && shown === undefined ? found[0] : undefined;
    if (only !== undefined) {
      return only;
    }
    if (found.length === 0) {
      warn(host, "none", none, { title: "Show Attempts", command: "greenloop.attempts.focus" });
      return undefined;
    }
    const items = [...mine, ...found.filter((run) => !mine.includes(run))].map((run) => ({
      label: run.name,
      description: runLine(run),
      detail: run.target,
      run,
    }));
    return (await vscode.window.showQuickPick(items, { placeHolder: "Which one?", matchOnDetail: true }))?.run;
  }

  /** A command about one run. */
  function onRun(command: string, isMeant: (run: Run) => boolean, none: string): Handler {
    return async (...args) => {
      const run = await which(args, isMeant, none);
      if (run !== undefined) {
        await execute(host, command, named(run));
      }
    };
  }

  /** A command about places in files. */
  function onSpots(command: string, find: (args: readonly unknown[]) => Spot[], isAboutMany?: string): Handler {
    return async (...args) => {
      for (const { many, ...spot } of nonEmpty(host, find(args), args)) {
        await start(many && isAboutMany !== undefined ? isAboutMany : command, spot);
      }
    };
  }

  const handlers: Record<string, Handler> = {
    "greenloop.here.refine": onSpots("greenloop.refine", spotsOf, "greenloop.refineAll"),
    "greenloop.here.refineAll": onSpots("greenloop.refineAll", filesOf),
    "greenloop.here.run": onSpots("greenloop.runTest", spotsOf),
    "greenloop.here.runFile": onSpots("greenloop.runTest", filesOf),
    "greenloop.here.preset": async (...args) => {
      const spots = nonEmpty(host, spotsOf(args).filter((spot) => !spot.many), args);
      const preset = spots[0] === undefined ? undefined : await pickPreset(host, spots[0].uri);
      for (const spot of preset === undefined ? [] : spots) {
        await start("greenloop.refine", { uri: spot.uri, position: spot.position, preset });
      }
    },
    "greenloop.here.cancel": onRun("greenloop.cancel", (run) => run.phase !== "over", "No refinement is running."),
    "greenloop.here.apply": onRun("greenloop.apply", (run) => run.offered, "No result waits to be applied."),
    "greenloop.here.discard": onRun("greenloop.discard", (run) => run.phase === "over", "There is no run to discard."),
    "greenloop.here.attempts": onRun(
      "greenloop.showAttempts",
      (run) => run.attempts.length > 0,
      "There are no attempts yet.",
    ),
    "greenloop.here.clear": async () => {
      const offered = runs.all.filter((run) => run.offered).length;
      const what = offered === 1 ? "1 result that is not applied" : `${offered} results that are not applied`;
      const ask = () => vscode.window.showWarningMessage(`Discard ${what}?`, { modal: true }, "Discard");
      if (offered === 0 || (await ask()) !== undefined) {
        await execute(host, "greenloop.discard");
      }
    },
    "greenloop.here.cancelAll": async () => {
      await execute(host, "greenloop.cancel");
    },
    "greenloop.here.diff": async (...args) => {
      const [node] = args;
      if (node instanceof AttemptNode) {
        await openDiff(host, { ...named(node.run), attempt: node.attempt.attempt }, true);
        return;
      }
      const run = await which(args, (each) => each.result !== null, "There is no result to compare with.");
      const known = run === undefined ? undefined : runs.find(run);
      if (known?.result != null) {
        await openDiff(host, { ...named(known), attempt: known.result }, true);
      }
    },
    "greenloop.here.report": async (...args) => {
      const run = await which(args, (each) => each.attempts.length > 0, "There are no attempts yet.");
      const report = run === undefined ? undefined : await request<Report>(host, METHODS.report, named(run));
      if (report !== undefined) {
        await vscode.env.clipboard.writeText(report.markdown);
        vscode.window.setStatusBarMessage("$(check) Report copied", 3000);
      }
    },
    "greenloop.run.doctor": async () => {
      const uri = pythonEditor()?.document.uri.toString();
      await execute(host, "greenloop.doctor", ...(uri === undefined ? [] : [{ uri }]));
    },
    "greenloop.run.pullModel": async () => {
      await execute(host, "greenloop.pullModel");
    },
  };
  // What lenses and code actions send: their errors are told as those of the palette.
  host.middleware.executeCommand = (command, args) => start(command, ...(args as object[]));
  for (const [id, handler] of Object.entries(handlers)) {
    host.context.subscriptions.push(vscode.commands.registerCommand(id, handler));
  }
}

/** Where there is nothing to work at, the user is told where to go. */
function nonEmpty(host: Host, spots: Spot[], args: readonly unknown[]): Spot[] {
  if (spots.length === 0 && args.length > 0 && pythonEditor() !== undefined) {
    warn(host, "no-tests", "There are no Python tests in what is selected.", {
      title: "Show Tests",
      command: "workbench.view.testing.focus",
    });
  } else if (spots.length === 0) {
    warn(host, "no-editor", "Open a Python file and put the cursor into a test or a function.", {
      title: "Open File…",
      command: "workbench.action.quickOpen",
      arguments: ["test_"],
    });
  }
  return spots;
}

async function pickPreset(host: Host, uri: string): Promise<string | undefined> {
  const choices = await request<Choices>(host, METHODS.choices, { uri });
  const items = choices?.presets.map(({ name, about }) => ({
    label: name,
    description: name === choices.preset ? "from the settings" : "",
    detail: about,
  }));
  const options = { placeHolder: "Refine with which preset?", matchOnDetail: true };
  return items === undefined ? undefined : (await vscode.window.showQuickPick(items, options))?.label;
}

/** What ends with the document that it was asked from: a preview would give way to the next click. */
async function keepOpen(command: string, about: unknown): Promise<void> {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  if (!WORKS.has(command) || !tab?.isPreview || !(tab.input instanceof vscode.TabInputText)) {
    return;
  }
  const uri = typeof about === "object" && about !== null && "uri" in about ? about.uri : undefined;
  if (typeof uri === "string" && vscode.Uri.parse(uri).toString() === tab.input.uri.toString()) {
    await vscode.commands.executeCommand("workbench.action.keepEditor");
  }
}

function named({ uri, target }: Named): Named {
  return { uri, target };
}
