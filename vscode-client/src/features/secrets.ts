// Keys of providers: kept in the editor's secret storage, handed to the server when it asks, in no setting and no log.

import * as vscode from "vscode";

import type { Host, Register } from "../host";
import { type KeyParams, type KeyResult, METHODS } from "../protocol";

/** As the server calls them: the word before the `/` in a model's name. */
const PROVIDERS: readonly { name: string; label: string; example: string }[] = [
  { name: "openai", label: "OpenAI", example: "gpt-4o" },
  { name: "anthropic", label: "Anthropic", example: "claude-sonnet-4-5" },
  { name: "gemini", label: "Gemini", example: "gemini-2.5-flash" },
  { name: "mistral", label: "Mistral", example: "mistral-small-latest" },
  { name: "deepseek", label: "DeepSeek", example: "deepseek-chat" },
  { name: "openrouter", label: "OpenRouter", example: "qwen/qwen3-coder" },
];
/** Names of providers whose key is kept: the storage itself cannot be listed. */
const KEPT = "greenloop.keys";

const place = (provider: string): string => `greenloop.key.${provider}`;
export const labelOf = (provider: string): string => PROVIDERS.find(({ name }) => name === provider)?.label ?? provider;
const kept = (host: Host): string[] => host.context.globalState.get<string[]>(KEPT, []);

export const exampleOf = (provider: string): string =>
  PROVIDERS.find(({ name }) => name === provider)?.example ?? "";

export async function hasKey(host: Host, provider: string): Promise<boolean> {
  return (await host.context.secrets.get(place(provider))) !== undefined;
}

/** Asks for a key and keeps it; false when none was given. */
export async function askKey(host: Host, provider: string, variable = ""): Promise<boolean> {
  const usual = variable === "" ? "" : ` Without it, the environment variable ${variable} is used.`;
  const key = await vscode.window.showInputBox({
    title: `greenloop: key of ${labelOf(provider)}`,
    prompt: `Kept in the editor's secret storage, for greenloop alone.${usual}`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? "A key has no spaces." : undefined),
  });
  const clean = key?.trim() ?? "";
  if (clean === "") {
    return false;
  }
  await host.context.secrets.store(place(provider), clean);
  await host.context.globalState.update(KEPT, [...new Set([...kept(host), provider])].sort());
  return true;
}

/** Which provider; undefined when none was chosen. */
export async function askProvider(title: string): Promise<string | undefined> {
  const other = { label: "Other…", description: "any provider that litellm knows", name: "" };
  const items = [...PROVIDERS.map((each) => ({ ...each, description: each.name })), other];
  const picked = await vscode.window.showQuickPick(items, { title });
  if (picked === undefined || picked.name !== "") {
    return picked?.name;
  }
  const name = await vscode.window.showInputBox({
    title,
    prompt: "The provider's name, the word before the / in a model's name, such as groq.",
    ignoreFocusOut: true,
    validateInput: (text) => (/^[\w.-]+$/.test(text.trim()) ? undefined : "One word, such as groq."),
  });
  return name?.trim();
}

class Keys {
  /** Providers whose question was closed: nobody is asked twice in a session. */
  private readonly declined = new Set<string>();
  private readonly asking = new Map<string, Promise<boolean>>();

  constructor(private readonly host: Host) {}

  async answer({ provider, variable }: KeyParams, token: vscode.CancellationToken): Promise<KeyResult> {
    const found = await this.host.context.secrets.get(place(provider));
    if (found !== undefined || this.declined.has(provider)) {
      return { key: found ?? null };
    }
    const ends: vscode.Disposable[] = [];
    const isStored = await Promise.race([
      this.offered(provider, variable),
      new Promise<boolean>((resolve) => {
        // The key may come by another way than this question.
        ends.push(
          this.host.context.secrets.onDidChange(({ key }) => (key === place(provider) ? resolve(true) : undefined)),
          token.onCancellationRequested(() => resolve(false)),
        );
      }),
    ]);
    ends.forEach((end) => void end.dispose());
    // A message that was not answered is out of sight by now: the next run asks anew.
    this.asking.delete(provider);
    if (!isStored && !token.isCancellationRequested) {
      this.declined.add(provider);
    }
    return { key: (await this.host.context.secrets.get(place(provider))) ?? null };
  }

  async set(): Promise<void> {
    const provider = await askProvider("greenloop: set the key of a provider");
    if (provider !== undefined && (await askKey(this.host, provider))) {
      this.declined.delete(provider);
      void vscode.window.showInformationMessage(`greenloop keeps the key of ${labelOf(provider)}.`);
    }
  }

  async forget(): Promise<void> {
    const items = kept(this.host).map((name) => ({ label: labelOf(name), description: name, name }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage("greenloop keeps no key.");
      return;
    }
    const picked = await vscode.window.showQuickPick(items, { title: "greenloop: forget a key" });
    if (picked !== undefined) {
      await this.host.context.secrets.delete(place(picked.name));
      const others = kept(this.host).filter((name) => name !== picked.name);
      await this.host.context.globalState.update(KEPT, others);
      void vscode.window.showInformationMessage(`greenloop has forgotten the key of ${picked.label}.`);
    }
  }

  /** Several runs may ask at once for the same key: one question answers them all. */
  private offered(provider: string, variable: string): Promise<boolean> {
    let question = this.asking.get(provider);
    if (question === undefined) {
      question = this.offer(provider, variable);
      this.asking.set(provider, question);
    }
    return question;
  }

  private async offer(provider: string, variable: string): Promise<boolean> {
    const enter = "Enter Key";
    const chosen = await vscode.window.showInformationMessage(
      `greenloop has no key of ${labelOf(provider)} (${variable}).`, enter, "Not Now",
    );
    return chosen === enter && askKey(this.host, provider, variable);
  }
}

export const register: Register = (host) => {
  const keys = new Keys(host);
  host.onClient((client) => client.onRequest(METHODS.key, (params: KeyParams, token: vscode.CancellationToken) => keys.answer(params, token)));
  host.context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.keys.set", () => keys.set()),
    vscode.commands.registerCommand("greenloop.keys.forget", () => keys.forget()),
  );
};
