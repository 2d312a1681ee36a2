// The view of the runs and their attempts, as the server tells of them.

import * as vscode from "vscode";

import { same } from "../attemptUri";
import type { Host } from "../host";
import type { Attempt, Run } from "../protocol";
import { runsOf, type Runs } from "../runs";
import * as words from "../words";

export class RunNode extends vscode.TreeItem {
  /** Open while it works; afterwards it stays as the user has left it. */
  constructor(readonly run: Run) {
    super(run.name, vscode.TreeItemCollapsibleState[run.phase === "over" ? "Collapsed" : "Expanded"]);
    this.id = `${run.uri}\n${run.target}`;
    this.description = words.runLine(run);
    this.tooltip = words.runTooltip(run);
    this.iconPath = words.runIcon(run);
    this.contextValue = ["run", ...states(run)].join(" ");
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
    super(attempt.attempt === 0 ? "Your code" : `Attempt ${attempt.attempt}`);
    this.id = `${run.uri}\n${run.target}\n${attempt.attempt}`;
    this.description = words.attemptLine(attempt);
    this.tooltip = words.attemptTooltip(attempt);
    this.iconPath = words.verdictIcon(attempt);
    this.contextValue = ["attempt", ...(run.result === attempt.attempt ? states(run) : [])].join(" ");
    this.command = { command: "greenloop.here.diff", title: "Compare with Your Code", arguments: [this] };
    this.accessibilityInformation = { label: `${this.label as string}, ${this.tooltip}, ${this.description}` };
  }
}

type Node = RunNode | AttemptNode;

/** What can be done with a run; the menus of the view ask for these words. */
function states(run: Run): string[] {
  const found: Record<string, boolean> = {
    running: run.phase !== "over" && run.phase !== "landing",
    over: run.phase === "over",
    offered: run.offered,
    tried: run.attempts.length > 0,
    result: run.result !== null,
  };
  return Object.keys(found).filter((word) => found[word]);
}

class Attempts implements vscode.TreeDataProvider<Node> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly runs: Runs) {
    this.onDidChangeTreeData = runs.onDidChange;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node;
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.runs.all.map((run) => new RunNode(run));
    }
    return node instanceof RunNode ? node.run.attempts.map((attempt) => new AttemptNode(node.run, attempt)) : [];
  }

  getParent(node: Node): Node | undefined {
    return node instanceof AttemptNode ? new RunNode(node.run) : undefined;
  }
}

export function register(host: Host): void {
  const runs = runsOf(host);
  const view = vscode.window.createTreeView("greenloop.attempts", {
    treeDataProvider: new Attempts(runs),
    showCollapseAll: true,
  });
  let before = runs.all;
  const changes = runs.onDidChange(() => {
    const count = runs.running.length;
    view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? "1 refinement" : `${count} refinements` };
    follow(before, runs.all);
    before = runs.all;
  });

  /** A run that begins while the view is open is brought into sight; the view is never opened by itself. */
  function follow(old: readonly Run[], now: readonly Run[]): void {
    const begun = now.find((run) => run.phase !== "over" && !old.some((each) => same(each, run) && each.phase !== "over"));
    if (begun !== undefined && view.visible) {
      void view.reveal(new RunNode(begun), { select: false, focus: false, expand: true });
    }
  }

  host.context.subscriptions.push(view, changes);
}
