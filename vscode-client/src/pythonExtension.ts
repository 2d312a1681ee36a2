// Reads the interpreter chosen in the Python extension, and whether that shows tests; greenloop works without it.

import * as vscode from "vscode";

const PYTHON_EXTENSION = "ms-python.python";
const TIMEOUT_MS = 10_000;

/** The part of its API that is used; see https://github.com/microsoft/vscode-python-api. */
interface EnvironmentsApi {
  getActiveEnvironmentPath(resource?: vscode.Uri): { id: string; path: string };
  resolveEnvironment(environment: { id: string; path: string }): Promise<
    { executable: { uri?: vscode.Uri | undefined } } | undefined
  >;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

/** The interpreter chosen for the first folder; undefined if the extension does not answer in time. */
export async function activePython(): Promise<string | undefined> {
  const environments = await withTimeout(environmentsApi());
  if (environments === undefined) {
    return undefined;
  }
  try {
    const chosen = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    const resolved = await withTimeout(environments.resolveEnvironment(chosen));
    return resolved?.executable.uri?.fsPath ?? chosen.path;
  } catch {
    // An error in the other extension must not stop the search.
    return undefined;
  }
}

/** Whether the Python extension shows the tests of this file's folder: it is installed, and a test framework is switched on. */
export function showsTests(file: vscode.Uri): boolean {
  const testing = vscode.workspace.getConfiguration("python.testing", file);
  const isEnabled = testing.get("pytestEnabled") === true || testing.get("unittestEnabled") === true;
  return isEnabled && vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined;
}

/** Calls `onChange` whenever another interpreter is chosen, also if the extension is installed later. */
export function watchActivePython(onChange: () => void): vscode.Disposable {
  const subscriptions: vscode.Disposable[] = [];
  let isSubscribed = false;
  const subscribe = async (): Promise<void> => {
    const environments = isSubscribed ? undefined : await environmentsApi();
    if (environments !== undefined && !isSubscribed) {
      isSubscribed = true;
      subscriptions.push(environments.onDidChangeActiveEnvironmentPath(onChange));
    }
  };
  subscriptions.push(vscode.extensions.onDidChange(() => void subscribe()));
  void subscribe();
  return { dispose: () => subscriptions.forEach((each) => void each.dispose()) };
}

async function environmentsApi(): Promise<EnvironmentsApi | undefined> {
  try {
    const extension = vscode.extensions.getExtension<{ environments?: EnvironmentsApi }>(PYTHON_EXTENSION);
    return (await extension?.activate())?.environments;
  } catch {
    return undefined;
  }
}

async function withTimeout<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, timeout]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
