// Stores API keys in the editor's secret storage and hands them to the server on request; never in settings or logs.

import * as vscode from "vscode";

import type { Host, RegisterFeature } from "../host";
import { type KeyParams, type KeyResult, METHODS } from "../protocol";

/** `name` is the part of a model's name before the `/`, as the server uses it. */
const PROVIDERS: readonly { name: string; label: string; example: string }[] = [
  { name: "openai", label: "OpenAI", example: "gpt-4o" },
  { name: "anthropic", label: "Anthropic", example: "claude-sonnet-4-5" },
  { name: "gemini", label: "Gemini", example: "gemini-2.5-flash" },
  { name: "mistral", label: "Mistral", example: "mistral-small-latest" },
  { name: "deepseek", label: "DeepSeek", example: "deepseek-chat" },
  { name: "openrouter", label: "OpenRouter", example: "qwen/qwen3-coder" },
];
/** The providers with a stored key: the secret storage cannot be listed. */
const STORED_PROVIDERS = "greenloop.keys";

const secretName = (provider: string): string => `greenloop.key.${provider}`;
export const providerLabel = (provider: string): string => PROVIDERS.find(({ name }) => name === provider)?.label ?? provider;
const storedProviders = (host: Host): string[] => host.context.globalState.get<string[]>(STORED_PROVIDERS, []);

export const exampleModel = (provider: string): string =>
  PROVIDERS.find(({ name }) => name === provider)?.example ?? "";

export async function hasKey(host: Host, provider: string): Promise<boolean> {
  return (await host.context.secrets.get(secretName(provider))) !== undefined;
}

/** Asks for a key and stores it; false if the user entered none. */
export async function askKey(host: Host, provider: string, variable = ""): Promise<boolean> {
  const fallback = variable === "" ? "" : ` Without a stored key, greenloop uses the environment variable ${variable}.`;
  const key = await vscode.window.showInputBox({
    title: `greenloop: API Key for ${providerLabel(provider)}`,
    prompt: `Stored in the editor's secret storage, for greenloop only.${fallback}`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? "A key contains no spaces." : undefined),
  });
  const trimmed = key?.trim() ?? "";
  if (trimmed === "") {
    return false;
  }
  await host.context.secrets.store(secretName(provider), trimmed);
  await host.context.globalState.update(STORED_PROVIDERS, [...new Set([...storedProviders(host), provider])].sort());
  return true;
}

/** Asks for a provider; undefined if the user chose none. */
export async function askProvider(title: string): Promise<string | undefined> {
  const otherProvider = { label: "Other…", description: "any provider that litellm supports", name: "" };
  const items = [...PROVIDERS.map((each) => ({ ...each, description: each.name })), otherProvider];
  const picked = await vscode.window.showQuickPick(items, { title });
  if (picked === undefined || picked.name !== "") {
    return picked?.name;
  }
  const name = await vscode.window.showInputBox({
    title,
    prompt: "The provider's name: the part before the slash in a model's name, for example groq.",
    ignoreFocusOut: true,
    validateInput: (text) => (/^[\w.-]+$/.test(text.trim()) ? undefined : "Enter one word, for example groq."),
  });
  return name?.trim();
}

class KeyRequests {
  /** Providers whose prompt was dismissed: they are not asked for again in this session. */
  private readonly declinedProviders = new Set<string>();
  private readonly openPrompts = new Map<string, Promise<boolean>>();

  constructor(private readonly host: Host) {}

  async answer({ provider, variable }: KeyParams, token: vscode.CancellationToken): Promise<KeyResult> {
    const stored = await this.host.context.secrets.get(secretName(provider));
    if (stored !== undefined || this.declinedProviders.has(provider)) {
      return { key: stored ?? null };
    }
    const subscriptions: vscode.Disposable[] = [];
    const isStored = await Promise.race([
      this.promptOnce(provider, variable),
      new Promise<boolean>((resolve) => {
        // The key may also be set by the command, while the prompt is open.
        subscriptions.push(
          this.host.context.secrets.onDidChange(({ key }) => (key === secretName(provider) ? resolve(true) : undefined)),
          token.onCancellationRequested(() => resolve(false)),
        );
      }),
    ]);
    subscriptions.forEach((each) => void each.dispose());
    // By now an unanswered message is no longer visible, so the next run asks again.
    this.openPrompts.delete(provider);
    if (!isStored && !token.isCancellationRequested) {
      this.declinedProviders.add(provider);
    }
    return { key: (await this.host.context.secrets.get(secretName(provider))) ?? null };
  }

  async set(): Promise<void> {
    const provider = await askProvider("greenloop: Set an API Key");
    if (provider !== undefined && (await askKey(this.host, provider))) {
      this.declinedProviders.delete(provider);
      void vscode.window.showInformationMessage(`The API key for ${providerLabel(provider)} is stored.`);
    }
  }

  async forget(): Promise<void> {
    const items = storedProviders(this.host).map((name) => ({ label: providerLabel(name), description: name, name }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage("greenloop has no stored API keys.");
      return;
    }
    const picked = await vscode.window.showQuickPick(items, { title: "greenloop: Remove an API Key" });
    if (picked !== undefined) {
      await this.host.context.secrets.delete(secretName(picked.name));
      const others = storedProviders(this.host).filter((name) => name !== picked.name);
      await this.host.context.globalState.update(STORED_PROVIDERS, others);
      void vscode.window.showInformationMessage(`The API key for ${picked.label} was removed.`);
    }
  }

  /** Several runs may need the same key at once: one prompt answers them all. */
  private promptOnce(provider: string, variable: string): Promise<boolean> {
    let prompt = this.openPrompts.get(provider);
    if (prompt === undefined) {
      prompt = this.promptForKey(provider, variable);
      this.openPrompts.set(provider, prompt);
    }
    return prompt;
  }

  private async promptForKey(provider: string, variable: string): Promise<boolean> {
    const enter = "Enter Key";
    const chosen = await vscode.window.showInformationMessage(
      `greenloop has no API key for ${providerLabel(provider)} (${variable}).`, enter, "Not Now",
    );
    return chosen === enter && askKey(this.host, provider, variable);
  }
}

export const register: RegisterFeature = (host) => {
  const keys = new KeyRequests(host);
  host.onClientCreated((client) => client.onRequest(METHODS.key, (params: KeyParams, token: vscode.CancellationToken) => keys.answer(params, token)));
  host.context.subscriptions.push(
    vscode.commands.registerCommand("greenloop.keys.set", () => keys.set()),
    vscode.commands.registerCommand("greenloop.keys.forget", () => keys.forget()),
  );
};
