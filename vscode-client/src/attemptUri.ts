// URIs of read-only documents that show one file as one attempt of a run leaves it.

import * as vscode from "vscode";

import type { AttemptParams, TargetRef } from "./protocol";

export const ATTEMPT_SCHEME = "greenloop-attempt";

/** A file as an attempt leaves it. `file` is the URI of the user's file; `empty` marks one that does not exist yet. */
export interface AttemptDocument extends AttemptParams {
  file: string;
  empty?: true;
}

/** Builds the URI. Equal attempts and files give equal URIs, so that an open editor can be found again. */
export function attemptUri(document: AttemptDocument): vscode.Uri {
  const { uri, target, attempt, file, empty } = document;
  const query = JSON.stringify(empty ? { uri, target, attempt, file, empty } : { uri, target, attempt, file });
  const { scheme, path } = vscode.Uri.parse(file);
  // A notebook cell is Python, whatever the extension of its notebook.
  return vscode.Uri.from({ scheme: ATTEMPT_SCHEME, path: scheme === "file" ? path : `${path}.py`, query });
}

/** Returns undefined for any other URI, and for one that is incomplete. */
export function parseAttemptUri(uri: vscode.Uri): AttemptDocument | undefined {
  if (uri.scheme !== ATTEMPT_SCHEME) {
    return undefined;
  }
  try {
    const query = JSON.parse(uri.query) as Partial<AttemptDocument>;
    const { uri: runUri, target, attempt, file, empty } = query;
    const isComplete =
      typeof runUri === "string" && typeof target === "string" && typeof attempt === "number" && typeof file === "string";
    return isComplete ? { uri: runUri, target, attempt, file, ...(empty ? { empty } : {}) } : undefined;
  } catch {
    return undefined;
  }
}

export function isSameTarget(a: TargetRef, b: TargetRef): boolean {
  return a.uri === b.uri && a.target === b.target;
}
