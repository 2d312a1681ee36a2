// The tree view of the runs and their attempts.

import * as vscode from "vscode";

import { isSameTarget } from "../attemptUri";
import * as formatting from "../formatting";
import type { Host } from "../host";
import type { Attempt, Run } from "../protocol";
import { type RunStore, runStoreOf } from "../runStore";

export class RunNode extends vscode.TreeItem {
  /** Expanded while the run is active; later the user's choice is kept. */
  constructor(readonly run: Run) {
    super(run.name, vscode.TreeItemCollapsibleState[run.phase === "over" ? "Collapsed" : "Expanded"]);
    this.id = `${run.uri}\n${run.target}`;
    this.description = formatting.formatRun(run);
    this.tooltip = formatting.runTooltip(run);
    this.iconPath = formatting.runIcon(run);
    this.contextValue = ["run", ...contextWords(run)].join(" ");
    this.accessibilityInformation = { label: `${run.name}, ${run.said}, ${this.description}` };
    if (run.attempts.length === 0 && run.phase === "over") {
      this.collapsibleState = vscode.TreeItemCollapsibleState.None;
    }
  }
}

export class AttemptNode extends vscode.TreeItem {
  constructor(
    readonly run: Run,
    readonly attempt: Attempt,
  ) {
    super(
      attempt.attempt === 0 ? "Your code" : `Attempt ${attempt.attempt}`,
      vscode.TreeItemCollapsibleState[attempt.looks.length > 0 ? "Collapsed" : "None"],
    );
    this.id = `${run.uri}\n${run.target}\n${attempt.attempt}`;
    this.description = formatting.formatAttempt(attempt);
    this.tooltip = formatting.attemptTooltip(attempt);
    this.iconPath = formatting.attemptIcon(attempt);
    this.contextValue = ["attempt", ...(run.result === attempt.attempt ? contextWords(run) : [])].join(" ");
    this.command = { command: "greenloop.here.diff", title: "Compare with Your Code", arguments: [this] };
    this.accessibilityInformation = { label: `${this.label as string}, ${this.tooltip}, ${this.description}` };
  }
}

/** A look of the model at the project; `attempt` is null for the one that is not complete yet. */
export class LookNode extends vscode.TreeItem {
  constructor(
    readonly run: Run,
    readonly attempt: Attempt | null,
    index: number,
    look: string,
  ) {
    super(look);
    this.id = `${run.uri}\n${run.target}\n${attempt?.attempt ?? "next"}\nlook ${index}`;
    this.tooltip = look;
    this.iconPath = new vscode.ThemeIcon("eye");
    this.contextValue = "look";
    this.accessibilityInformation = { label: `The model looked: ${look}` };
  }
}

type Node = RunNode | AttemptNode | LookNode;

/** Words for `contextValue`, by which the view's menus decide which commands they show. */
function contextWords(run: Run): string[] {
  const states: Record<string, boolean> = {
    running: run.phase !== "over" && run.phase !== "landing",
    over: run.phase === "over",
    offered: run.offered,
    tried: run.attempts.length > 0,
    result: run.result !== null,
  };
  return Object.keys(states).filter((word) => states[word]);
}

class AttemptsProvider implements vscode.TreeDataProvider<Node> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly runs: RunStore) {
    this.onDidChangeTreeData = runs.onDidChange;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node;
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.runs.all.map((run) => new RunNode(run));
    }
    const { run } = node;
    if (node instanceof RunNode) {
      return [...run.attempts.map((attempt) => new AttemptNode(run, attempt)), ...run.looks.map((look, index) => new LookNode(run, null, index, look))];
    }
    return node instanceof AttemptNode ? node.attempt.looks.map((look, index) => new LookNode(run, node.attempt, index, look)) : [];
  }

  getParent(node: Node): Node | undefined {
    if (node instanceof LookNode && node.attempt !== null) {
      return new AttemptNode(node.run, node.attempt);
    }
    return node instanceof RunNode ? undefined : new RunNode(node.run);
  }
}

export function register(host: Host): void {
  const runs = runStoreOf(host);
  const view = vscode.window.createTreeView("greenloop.attempts", {
    treeDataProvider: new AttemptsProvider(runs),
    showCollapseAll: true,
  });
  let previous = runs.all;
  const changes = runs.onDidChange(() => {
    const count = runs.running.length;
    view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? "1 active refinement" : `${count} active refinements` };
    revealNewRun(previous, runs.all);
    previous = runs.all;
  });

  /** Scrolls to a run that has just started, if the view is visible; never opens the view. */
  function revealNewRun(before: readonly Run[], after: readonly Run[]): void {
    const started = after.find((run) => run.phase !== "over" && !before.some((each) => isSameTarget(each, run) && each.phase !== "over"));
    if (started !== undefined && view.visible) {
      void view.reveal(new RunNode(started), { select: false, focus: false, expand: true });
    }
  }

  host.context.subscriptions.push(view, changes);
}
