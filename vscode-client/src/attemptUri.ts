// The names of virtual documents: which attempt of which run, and what file it would change.

import * as vscode from "vscode";

import type { AttemptParams, Named } from "./protocol";

export const SCHEME = "greenloop-attempt";

/** A file as an attempt leaves it; `file` is its own URI, `empty` stands for a file that does not exist yet. */
export interface Shown extends AttemptParams {
  file: string;
  empty?: true;
}

/** The same for the same attempt and file, so that it is found among open editors. */
export function attemptUri(shown: Shown): vscode.Uri {
  const { uri, target, attempt, file, empty } = shown;
  const query = JSON.stringify(empty ? { uri, target, attempt, file, empty } : { uri, target, attempt, file });
  const { scheme, path } = vscode.Uri.parse(file);
  // A cell of a notebook is Python, whatever its notebook's name says.
  return vscode.Uri.from({ scheme: SCHEME, path: scheme === "file" ? path : `${path}.py`, query });
}

/** undefined for what is no such name. */
export function shownAt(uri: vscode.Uri): Shown | undefined {
  if (uri.scheme !== SCHEME) {
    return undefined;
  }
  try {
    const found = JSON.parse(uri.query) as Partial<Shown>;
    const { uri: from, target, attempt, file, empty } = found;
    const isWhole =
      typeof from === "string" && typeof target === "string" && typeof attempt === "number" && typeof file === "string";
    return isWhole ? { uri: from, target, attempt, file, ...(empty ? { empty } : {}) } : undefined;
  } catch {
    return undefined;
  }
}

export function same(one: Named, other: Named): boolean {
  return one.uri === other.uri && one.target === other.target;
}
