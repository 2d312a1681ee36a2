// An extension for tests: registers a language model whose answers a test sets.

import * as vscode from "vscode";

/** The part used by tests of the API of VS Code 1.104, which is newer than the types of the extension. */
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
interface NewerApi {
  LanguageModelTextPart: new (text: string) => object;
}
type NewerLm = typeof vscode.lm & {
  registerLanguageModelChatProvider(vendor: string, provider: Provider): vscode.Disposable;
};

const { LanguageModelTextPart: Part } = vscode as unknown as NewerApi;

const fake = {
  answers: [] as (string | Error)[],
  requests: [] as { messages: string[]; cancelled: boolean }[],
};

const provider: Provider = {
  provideLanguageModelChatInformation: () => [
    { id: "one", name: "Fake one", family: "fake", version: "1", maxInputTokens: 4000, maxOutputTokens: 1000, capabilities: {} },
  ],
  async provideLanguageModelChatResponse(_model, messages, _options, progress, token) {
    const request = { messages: messages.map((each) => each.content.map((part) => part.value ?? "").join("")), cancelled: false };
    fake.requests.push(request);
    token.onCancellationRequested(() => (request.cancelled = true));
    const answer = fake.answers.shift();
    if (answer === undefined) {
      // Without an answer, waits until the request is cancelled.
      await new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
      return;
    }
    if (answer instanceof Error) throw answer;
    for (const part of answer.match(/[^]{1,20}/g) ?? []) progress.report(new Part(part));
  },
  provideTokenCount: () => Promise.resolve(3),
};

export function activate(context: vscode.ExtensionContext): typeof fake {
  context.subscriptions.push((vscode.lm as NewerLm).registerLanguageModelChatProvider("fake", provider));
  return fake;
}
