// Sends the settings that the user has really set: VS Code would send every default, which would then override the
// user's and the repository's files on the server's side.

import * as vscode from "vscode";

import type { Register } from "../host";

const SECTION = "greenloop";
/** Settings of this client, which the server does not know. */
const OWN = /^(python$|trace\.)/;

/** What is set for this resource, by dotted keys; wrong keys too, which the server names. */
function chosen(resource: vscode.Uri | undefined): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration(SECTION, resource ?? null);
  const found: Record<string, unknown> = {};
  for (const key of leaves(section)) {
    const at = section.inspect(key);
    const set = [at?.globalValue, at?.workspaceValue, at?.workspaceFolderValue].some((value) => value !== undefined);
    if (set && !OWN.test(key)) {
      found[key] = section.get(key);
    }
  }
  return found;
}

/** The dotted keys of everything that has a value. No setting of ours is an object, so each object is a level. */
function leaves(values: object, above = ""): string[] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "function") {
      return [];
    }
    const level = typeof value === "object" && value !== null && !Array.isArray(value);
    return level ? leaves(value, `${above}${name}.`) : [above + name];
  });
}

export const register: Register = (host) => {
  host.middleware.workspace = {
    ...host.middleware.workspace,
    // A change is told without its values, which would be all defaults: the server asks for what is set.
    didChangeConfiguration: (_sections, next) => next(undefined),
    configuration: async (params, token, next) => {
      const items = params.items.filter((item) => item.section !== SECTION);
      const others = items.length > 0 ? await next({ items }, token) : [];
      if (!Array.isArray(others)) {
        return others;
      }
      return params.items.map((item): unknown =>
        item.section === SECTION
          ? chosen(item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri))
          : others[items.indexOf(item)],
      );
    },
  };
};
