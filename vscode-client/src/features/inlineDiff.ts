// Marks an applied result in its files until it is kept or undone: the changed lines, what they replaced, and lenses.
//
// Which lines these are the server says, so that text typed since is not among them.

import * as vscode from "vscode";

import type { Host } from "../host";
import { type Change, type Changes, METHODS, type Run, type TargetRef } from "../protocol";
import { isTargetRef, runStoreOf } from "../runStore";
import { executeCommand, requestQuietly, warn } from "../serverRequests";
import { RunNode } from "./attemptsView";

/** Milliseconds to wait after an edit before the changed lines are asked for again; until then the editor moves them. */
const TYPING_PAUSE_MS = 300;
/** Characters of a replaced line that are shown after its line. */
const MAX_LENGTH = 80;

interface Marked {
  run: Run;
  changes: readonly Change[];
}

export function register(host: Host): void {
  const runs = runStoreOf(host);
  const marked = new Map<string, Marked>();
  const kept = new Set<string>();
  const didChangeLenses = new vscode.EventEmitter<void>();
  const color = (id: string): vscode.ThemeColor => new vscode.ThemeColor(id);
  const addedLines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: color("diffEditor.insertedTextBackground"),
    overviewRulerColor: color("editorOverviewRuler.addedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    after: { margin: "0 0 0 3em", color: color("gitDecoration.deletedResourceForeground"), textDecoration: "line-through" },
  });
  const removedLines = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: color("editorOverviewRuler.deletedForeground"),
    after: { margin: "0 0 0 3em", color: color("gitDecoration.deletedResourceForeground") },
  });

  async function refresh(key: string, run: Run): Promise<void> {
    const reply = await requestQuietly<Changes>(host, METHODS.changes, { uri: run.uri, target: run.target });
    if (reply === undefined || kept.has(key) || runs.find(run)?.applied !== true) {
      return;
    }
    if (reply.changes.length > 0) {
      marked.set(key, { run, changes: reply.changes });
    } else {
      marked.delete(key);
    }
    show();
  }

  function update(): void {
    const applied = new Map(runs.all.filter((run) => run.applied && run.phase === "over").map((run) => [keyOf(run), run]));
    [...kept, ...marked.keys()].filter((key) => !applied.has(key)).forEach((key) => kept.delete(key) || marked.delete(key));
    applied.forEach((run, key) => {
      if (!kept.has(key) && marked.get(key)?.run.seconds !== run.seconds) {
        void refresh(key, run);
      }
    });
    show();
  }

  function changesIn(document: vscode.TextDocument): [Run, Change[]][] {
    const uri = document.uri.toString();
    return [...marked.values()]
      .map(({ run, changes }): [Run, Change[]] => [run, changes.filter((change) => vscode.Uri.parse(change.uri).toString() === uri)])
      .filter(([, changes]) => changes.length > 0);
  }

  function show(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const changes = changesIn(editor.document).flatMap(([, each]) => each);
      editor.setDecorations(addedLines, changes.flatMap(decorateAdded));
      editor.setDecorations(removedLines, changes.flatMap((change) => decorateRemoved(change)));
    }
    const active = vscode.window.activeTextEditor;
    const isMarked = active !== undefined && changesIn(active.document).length > 0;
    void vscode.commands.executeCommand("setContext", "greenloop.marked", isMarked);
    didChangeLenses.fire();
  }

  /** The run passed by a lens or a chat's button, else the newest that has changed the active file, else the newest. */
  function pickRun(args: readonly unknown[]): Run | undefined {
    const [node] = args;
    const active = vscode.window.activeTextEditor;
    const inEditor = active === undefined ? [] : changesIn(active.document);
    const passed = node instanceof RunNode ? node.run : isTargetRef(node) ? node : undefined;
    const run = passed === undefined ? (inEditor[0]?.[0] ?? [...marked.values()][0]?.run) : runs.find(passed);
    if (run?.applied !== true) {
      warn(host, "none", "There is no applied result to keep or undo.", { title: "Show Attempts", command: "greenloop.attempts.focus" });
      return undefined;
    }
    return run;
  }

  const lenses: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: didChangeLenses.event,
    provideCodeLenses: (document) =>
      changesIn(document).flatMap(([run, [first]]) => {
        const row = Math.min(first?.start ?? 0, document.lineCount - 1);
        const lens = (title: string, command: string): vscode.CodeLens =>
          new vscode.CodeLens(new vscode.Range(row, 0, row, 0), { title, command, arguments: [new RunNode(run)] });
        return [
          lens("$(check) Keep", "greenloop.here.keep"),
          lens("$(discard) Undo", "greenloop.here.undo"),
          lens("$(list-tree) Show attempts", "greenloop.here.attempts"),
          lens("$(diff) Compare", "greenloop.here.diff"),
        ];
      }),
  };

  let timer: NodeJS.Timeout | undefined;
  host.context.subscriptions.push(
    addedLines,
    removedLines,
    didChangeLenses,
    runs.onDidChange(update),
    vscode.languages.registerCodeLensProvider([{ language: "python", scheme: "file" }, { language: "python", scheme: "vscode-notebook-cell" }], lenses),
    vscode.window.onDidChangeVisibleTextEditors(show),
    vscode.window.onDidChangeActiveTextEditor(show),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (changesIn(document).length > 0) {
        clearTimeout(timer);
        timer = setTimeout(() => marked.forEach(({ run }, key) => void refresh(key, run)), TYPING_PAUSE_MS);
      }
    }),
    { dispose: () => clearTimeout(timer) },
    vscode.commands.registerCommand("greenloop.here.keep", (...args: unknown[]) => {
      const run = pickRun(args);
      if (run !== undefined) {
        kept.add(keyOf(run));
        marked.delete(keyOf(run));
        show();
      }
    }),
    vscode.commands.registerCommand("greenloop.here.undo", async (...args: unknown[]) => {
      const run = pickRun(args);
      if (run !== undefined) {
        await executeCommand(host, "greenloop.undo", { uri: run.uri, target: run.target });
      }
    }),
  );
}

/** The new lines of a change, each with the line that it replaced. */
function decorateAdded({ start, end, before }: Change): vscode.DecorationOptions[] {
  const old = linesOf(before);
  return Array.from({ length: end - start }, (_, index) => {
    const isLast = start + index === end - 1;
    const more = isLast && old.length > index + 1 ? ` … and ${old.length - index - 1} more` : "";
    const text = old[index] === undefined ? "" : shorten(old[index]) + more;
    return {
      range: new vscode.Range(start + index, 0, start + index, 0),
      renderOptions: { after: { contentText: text } },
      ...(before === "" ? {} : { hoverMessage: replacedText(before) }),
    };
  });
}

/** A change that only removes lines is marked at the line before. */
function decorateRemoved({ start, end, before }: Change): vscode.DecorationOptions[] {
  const row = Math.max(start - 1, 0);
  const count = linesOf(before).length;
  const contentText = count === 1 ? "1 line removed" : `${count} lines removed`;
  return end > start ? [] : [{ range: new vscode.Range(row, 0, row, Number.MAX_SAFE_INTEGER), renderOptions: { after: { contentText } }, hoverMessage: replacedText(before) }];
}

function replacedText(before: string): vscode.MarkdownString {
  return new vscode.MarkdownString("Replaced by greenloop:").appendCodeblock(before.trimEnd(), "python");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function shorten(line: string): string {
  const text = line.trim();
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function keyOf({ uri, target }: TargetRef): string {
  return `${uri}\n${target}`;
}
