// The tests' own extension: a language model of the editor's that answers what a test wants.

import * as vscode from "vscode";

/** As far as tests use it: the API of 1.104, which is newer than what greenloop's types know. */
interface Provider {
  provideLanguageModelChatInformation(): object[];
  provideLanguageModelChatResponse(
    model: object,
    messages: { content: { value?: string }[] }[],
    options: object,
    progress: vscode.Progress<object>,
    token: vscode.CancellationToken,
  ): Promise<void>;
  provideTokenCount(): Promise<number>;
}
interface Newer {
  LanguageModelTextPart: new (text: string) => object;
}
type Registering = typeof vscode.lm & {
  registerLanguageModelChatProvider(vendor: string, provider: Provider): vscode.Disposable;
};

const { LanguageModelTextPart: Part } = vscode as unknown as Newer;

const fake = {
  answers: [] as (string | Error)[],
  asked: [] as { messages: string[]; cancelled: boolean }[],
};

const provider: Provider = {
  provideLanguageModelChatInformation: () => [
    { id: "one", name: "Fake one", family: "fake", version: "1", maxInputTokens: 4000, maxOutputTokens: 1000, capabilities: {} },
  ],
  async provideLanguageModelChatResponse(_model, messages, _options, progress, token) {
    const seen = { messages: messages.map((each) => each.content.map((part) => part.value ?? "").join("")), cancelled: false };
    fake.asked.push(seen);
    token.onCancellationRequested(() => (seen.cancelled = true));
    const answer = fake.answers.shift();
    if (answer === undefined) {
      // Nothing more to say: it waits until nobody wants to hear it.
      await new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
      return;
    }
    if (answer instanceof Error) throw answer;
    for (const part of answer.match(/[^]{1,20}/g) ?? []) progress.report(new Part(part));
  },
  provideTokenCount: () => Promise.resolve(3),
};

export function activate(context: vscode.ExtensionContext): typeof fake {
  context.subscriptions.push((vscode.lm as Registering).registerLanguageModelChatProvider("fake", provider));
  return fake;
}
