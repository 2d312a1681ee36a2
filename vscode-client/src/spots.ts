// What a command is about: the cursor, a file, or the tests that the Test Explorer hands over.

import * as vscode from "vscode";

import { SCHEME } from "./attemptUri";

/** A place in the words of the server: a document, and a position where it is about one test or function. */
export interface Spot {
  uri: string;
  position?: { line: number; character: number };
  /** Several tests, each of them for itself. */
  many?: true;
}

export function isPython(document: vscode.TextDocument): boolean {
  return document.languageId === "python" && document.uri.scheme !== SCHEME;
}

/** The Python editor that has the cursor. */
export function pythonEditor(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor !== undefined && isPython(editor.document) ? editor : undefined;
}

/** Of the cursor, or of the tests that a menu handed over; none where there is neither. */
export function spotsOf(args: readonly unknown[]): Spot[] {
  const items = itemsIn(args);
  if (items.length > 0) {
    return items.flatMap(ofItem).filter(isFirst);
  }
  const editor = pythonEditor();
  return editor === undefined ? [] : [{ uri: editor.document.uri.toString(), position: plain(editor.selection.active) }];
}

/** Whole files: those that a menu handed over, or that of the cursor. */
export function filesOf(args: readonly unknown[]): Spot[] {
  const items = itemsIn(args);
  if (items.length > 0) {
    return items.flatMap(ofItem).filter(isFirst);
  }
  // The explorer hands over the file under the mouse, and all that are selected.
  const uris = args.flat().filter((each): each is vscode.Uri => each instanceof vscode.Uri && each.path.endsWith(".py"));
  if (uris.length > 0) {
    return uris.map((uri): Spot => ({ uri: uri.toString(), many: true })).filter(isFirst);
  }
  const editor = pythonEditor();
  return editor === undefined ? [] : [{ uri: editor.document.uri.toString(), many: true }];
}

/** Tests are handed over one by one, a message of a test together with its test. */
function itemsIn(args: readonly unknown[]): vscode.TestItem[] {
  return args.flat().map((each) => (isMessage(each) ? each.test : each)).filter(isItem);
}

function isItem(value: unknown): value is vscode.TestItem {
  return typeof value === "object" && value !== null && "id" in value && "children" in value && "label" in value;
}

function isMessage(value: unknown): value is { test: vscode.TestItem } {
  return typeof value === "object" && value !== null && "test" in value && isItem(value.test);
}

/** A test stands where its range begins; a class, a file and a folder are all tests in them. */
function ofItem(item: vscode.TestItem): Spot[] {
  const inside = [...item.children].map(([, child]) => child);
  const { uri, range } = item;
  if (uri !== undefined && range !== undefined) {
    // The cases of a parametrised test stand where it stands itself.
    const isGroup = inside.some((child) => child.range !== undefined && !child.range.start.isEqual(range.start));
    return [{ uri: uri.toString(), position: plain(range.start), ...(isGroup ? { many: true } : {}) }];
  }
  const isFile = uri?.path.endsWith(".py") && item.parent?.uri?.toString() !== uri.toString();
  return uri !== undefined && isFile ? [{ uri: uri.toString(), many: true }] : inside.flatMap(ofItem);
}

/** Not in what another one of the selection is about. */
function isFirst(spot: Spot, index: number, spots: Spot[]): boolean {
  const inFile = spots.some((each) => each.uri === spot.uri && each.position === undefined && each !== spot);
  const key = JSON.stringify(spot);
  const isFirstOfItsKind = spots.findIndex((each) => JSON.stringify(each) === key) === index;
  return isFirstOfItsKind && (spot.position === undefined || !inFile);
}

function plain({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}
