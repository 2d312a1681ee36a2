// Finds the targets of a command: the cursor, files, or tests passed by the Test Explorer.

import * as vscode from "vscode";

import { ATTEMPT_SCHEME } from "./attemptUri";

/** A document; with a position, one test or function in it. */
export interface CommandTarget {
  uri: string;
  position?: { line: number; character: number };
  /** Stands for several tests, each of which is run or refined separately. */
  isGroup?: true;
}

export function isPython(document: vscode.TextDocument): boolean {
  return document.languageId === "python" && document.uri.scheme !== ATTEMPT_SCHEME;
}

/** The active editor, if it shows Python. */
export function pythonEditor(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor !== undefined && isPython(editor.document) ? editor : undefined;
}

/** The tests passed by a menu, else the position of the cursor. Empty without either. */
export function findTestTargets(args: readonly unknown[]): CommandTarget[] {
  const items = testItemsIn(args);
  if (items.length > 0) {
    return items.flatMap(targetsOfItem).filter(isNotCovered);
  }
  const editor = pythonEditor();
  return editor === undefined ? [] : [{ uri: editor.document.uri.toString(), position: toPosition(editor.selection.active) }];
}

/** The files passed by a menu, else the file of the active editor. */
export function findFileTargets(args: readonly unknown[]): CommandTarget[] {
  const items = testItemsIn(args);
  if (items.length > 0) {
    return items.flatMap(targetsOfItem).filter(isNotCovered);
  }
  // The Explorer passes the file under the mouse, then all selected files.
  const uris = args.flat().filter((each): each is vscode.Uri => each instanceof vscode.Uri && each.path.endsWith(".py"));
  if (uris.length > 0) {
    return uris.map((uri): CommandTarget => ({ uri: uri.toString(), isGroup: true })).filter(isNotCovered);
  }
  const editor = pythonEditor();
  return editor === undefined ? [] : [{ uri: editor.document.uri.toString(), isGroup: true }];
}

/** The Test Explorer passes tests one by one, and a test message together with its test. */
function testItemsIn(args: readonly unknown[]): vscode.TestItem[] {
  return args.flat().map((each) => (isTestMessage(each) ? each.test : each)).filter(isTestItem);
}

function isTestItem(value: unknown): value is vscode.TestItem {
  return typeof value === "object" && value !== null && "id" in value && "children" in value && "label" in value;
}

function isTestMessage(value: unknown): value is { test: vscode.TestItem } {
  return typeof value === "object" && value !== null && "test" in value && isTestItem(value.test);
}

/** A test is addressed by the start of its range; a class, file or folder stands for all tests in it. */
function targetsOfItem(item: vscode.TestItem): CommandTarget[] {
  const children = [...item.children].map(([, child]) => child);
  const { uri, range } = item;
  if (uri !== undefined && range !== undefined) {
    // The cases of a parametrised test have the same start as the test itself.
    const hasOwnTests = children.some((child) => child.range !== undefined && !child.range.start.isEqual(range.start));
    return [{ uri: uri.toString(), position: toPosition(range.start), ...(hasOwnTests ? { isGroup: true } : {}) }];
  }
  const isFile = uri?.path.endsWith(".py") && item.parent?.uri?.toString() !== uri.toString();
  return uri !== undefined && isFile ? [{ uri: uri.toString(), isGroup: true }] : children.flatMap(targetsOfItem);
}

/** Neither a duplicate nor a position in a file that is selected as a whole. */
function isNotCovered(target: CommandTarget, index: number, targets: CommandTarget[]): boolean {
  const isFileSelected = targets.some((each) => each.uri === target.uri && each.position === undefined && each !== target);
  const key = JSON.stringify(target);
  const isFirstOccurrence = targets.findIndex((each) => JSON.stringify(each) === key) === index;
  return isFirstOccurrence && (target.position === undefined || !isFileSelected);
}

function toPosition({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}
