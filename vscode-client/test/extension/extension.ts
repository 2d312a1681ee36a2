// An extension for tests: registers a language model whose answers a test sets.

import * as vscode from "vscode";

/** The part used by tests of the API of VS Code 1.104, which is newer than the types of the extension. */
interface Provider {
  provideLanguageModelChatInformation(): object[];
  provideLanguageModelChatResponse(
    model: object,
    messages: { content: Part[] }[],
    options: Options,
    progress: vscode.Progress<object>,
    token: vscode.CancellationToken,
  ): Promise<void>;
  provideTokenCount(): Promise<number>;
}
interface Part {
  value?: string;
}
interface Options {
  modelOptions?: object;
  tools?: object[];
}
interface NewerApi {
  LanguageModelTextPart: new (text: string) => object;
}
type NewerLm = typeof vscode.lm & {
  registerLanguageModelChatProvider(vendor: string, provider: Provider): vscode.Disposable;
};

const { LanguageModelTextPart: TextPart } = vscode as unknown as NewerApi;

/** An answer may also be the parts of a response. */
const fake = {
  answers: [] as (string | Error | object[])[],
  requests: [] as { messages: string[]; parts: Part[][]; options: Options; cancelled: boolean }[],
};

const provider: Provider = {
  provideLanguageModelChatInformation: () => [
    { id: "one", name: "Fake one", family: "fake", version: "1", maxInputTokens: 4000, maxOutputTokens: 1000, capabilities: {} },
  ],
  async provideLanguageModelChatResponse(_model, messages, options, progress, token) {
    const parts = messages.map((each) => [...each.content]);
    const request = { messages: parts.map((each) => each.map((part) => part.value ?? "").join("")), parts, options, cancelled: false };
    fake.requests.push(request);
    token.onCancellationRequested(() => (request.cancelled = true));
    const answer = fake.answers.shift();
    if (answer === undefined) {
      // Without an answer, waits until the request is cancelled.
      await new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
      return;
    }
    if (answer instanceof Error) throw answer;
    if (typeof answer !== "string") {
      answer.forEach((part) => progress.report(part));
      return;
    }
    for (const part of answer.match(/[^]{1,20}/g) ?? []) progress.report(new TextPart(part));
  },
  provideTokenCount: () => Promise.resolve(3),
};

export function activate(context: vscode.ExtensionContext): typeof fake {
  context.subscriptions.push((vscode.lm as NewerLm).registerLanguageModelChatProvider("fake", provider));
  return fake;
}
