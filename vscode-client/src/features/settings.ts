// Sends the settings that the user has really set: VS Code would send every default, which would then override the
// user's and the repository's files on the server's side.

import * as vscode from "vscode";

import type { Host, Register } from "../host";

const SECTION = "greenloop";

interface Manifest {
  contributes: { configuration: { properties: Record<string, { scope?: string }> }[] };
}

/** Settings of this client, which the server does not know. */
const OWN = /^(python$|trace\.)/;

/** The keys that are for the user alone, as package.json says. */
function usersOwn(host: Host): ReadonlySet<string> {
  const { contributes } = host.context.extension.packageJSON as Manifest;
  const all = contributes.configuration.flatMap(({ properties }) => Object.entries(properties));
  return new Set(all.filter(([, { scope }]) => scope === "machine").map(([key]) => key.slice(SECTION.length + 1)));
}

/** What is set for this resource, by dotted keys; wrong keys too, which the server names. */
function chosen(resource: vscode.Uri | undefined, users: ReadonlySet<string>): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration(SECTION, resource ?? null);
  const found: Record<string, unknown> = {};
  for (const key of leaves(section)) {
    const at = section.inspect(key);
    // Not every VS Code looks into objects: a repository's `"greenloop.sandbox": {"network": true}` may pass its scopes.
    const values = users.has(key) ? [at?.globalValue] : [at?.globalValue, at?.workspaceValue, at?.workspaceFolderValue];
    if (!OWN.test(key) && values.some((value) => value !== undefined)) {
      found[key] = users.has(key) ? at?.globalValue : section.get(key);
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
  const users = usersOwn(host);
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
          ? chosen(item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri), users)
          : others[items.indexOf(item)],
      );
    },
  };
};
