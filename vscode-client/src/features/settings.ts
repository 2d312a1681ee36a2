// Sends only settings that are explicitly set: VS Code would send every default, which would then override the user's
// and the repository's configuration files on the server.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";

const SECTION = "greenloop";

interface Manifest {
  contributes: { configuration: { properties: Record<string, { scope?: string }> }[] };
}

/** Settings of the extension itself, which the server does not know. */
const OWN = /^(python$|trace\.)/;

/** Keys that a workspace may set too, according to package.json: not those that it does not name. */
function workspaceKeys(host: Host): ReadonlySet<string> {
  const { contributes } = host.context.extension.packageJSON as Manifest;
  const all = contributes.configuration.flatMap(({ properties }) => Object.entries(properties));
  return new Set(all.filter(([, { scope }]) => scope === "resource").map(([key]) => key.slice(SECTION.length + 1)));
}

/** Values set for this resource, by dotted key. The user's other keys are included; the server reports unknown ones. */
function explicitSettings(resource: vscode.Uri | undefined, workspaceMaySet: ReadonlySet<string>): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration(SECTION, resource ?? null);
  const settings: Record<string, unknown> = {};
  for (const key of dottedKeys(section)) {
    const inspected = section.inspect(key);
    // Some versions of VS Code do not check scopes inside objects: a repository may set `"greenloop.sandbox": {…}`.
    const isFree = workspaceMaySet.has(key);
    const values = isFree ? [inspected?.globalValue, inspected?.workspaceValue, inspected?.workspaceFolderValue] : [inspected?.globalValue];
    if (!OWN.test(key) && values.some((value) => value !== undefined)) {
      settings[key] = isFree ? section.get(key) : inspected?.globalValue;
    }
  }
  return settings;
}

/** Dotted keys of all values. No setting is an object, so each object is a level of the key. */
function dottedKeys(values: object, prefix = ""): string[] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "function") {
      return [];
    }
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? dottedKeys(value, `${prefix}${name}.`) : [prefix + name];
  });
}

export const register: RegisterFeature = (host) => {
  const workspaceMaySet = workspaceKeys(host);
  host.middleware.workspace = {
    ...host.middleware.workspace,
    // A change is sent without values, which would include all defaults; the server asks for those that are set.
    didChangeConfiguration: (_sections, next) => next(undefined),
    configuration: async (params, token, next) => {
      const items = params.items.filter((item) => item.section !== SECTION);
      const others = items.length > 0 ? await next({ items }, token) : [];
      if (!Array.isArray(others)) {
        return others;
      }
      return params.items.map((item): unknown =>
        item.section === SECTION
          ? explicitSettings(item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri), workspaceMaySet)
          : others[items.indexOf(item)],
      );
    },
  };
};
