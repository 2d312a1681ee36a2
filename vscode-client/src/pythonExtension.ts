// The interpreter of the Python extension, where that is installed; it is never needed.

import * as vscode from "vscode";

const ID = "ms-python.python";
const PATIENCE = 10_000;

/** The part of its API that is used; see https://github.com/microsoft/vscode-python-api. */
interface Environments {
  getActiveEnvironmentPath(resource?: vscode.Uri): { id: string; path: string };
  resolveEnvironment(environment: { id: string; path: string }): Promise<
    { executable: { uri?: vscode.Uri | undefined } } | undefined
  >;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

/** The interpreter chosen for the first folder; undefined where nobody tells in time. */
export async function activePython(): Promise<string | undefined> {
  const environments = await within(api());
  if (environments === undefined) {
    return undefined;
  }
  try {
    const chosen = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    const resolved = await within(environments.resolveEnvironment(chosen));
    return resolved?.executable.uri?.fsPath ?? chosen.path;
  } catch {
    // Another extension's fault is no reason not to look further.
    return undefined;
  }
}

/** Calls `changed` whenever another interpreter is chosen, from when the extension is there. */
export function watchActivePython(changed: () => void): vscode.Disposable {
  const subscriptions: vscode.Disposable[] = [];
  let subscribed = false;
  const subscribe = async (): Promise<void> => {
    const environments = subscribed ? undefined : await api();
    if (environments !== undefined && !subscribed) {
      subscribed = true;
      subscriptions.push(environments.onDidChangeActiveEnvironmentPath(changed));
    }
  };
  subscriptions.push(vscode.extensions.onDidChange(() => void subscribe()));
  void subscribe();
  return { dispose: () => subscriptions.forEach((one) => void one.dispose()) };
}

async function api(): Promise<Environments | undefined> {
  try {
    const extension = vscode.extensions.getExtension<{ environments?: Environments }>(ID);
    return (await extension?.activate())?.environments;
  } catch {
    return undefined;
  }
}

async function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE);
  });
  try {
    return await Promise.race([promise, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
