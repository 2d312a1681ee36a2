// Tools for the editor's agents: #greenloopVerify, #greenloopRefine and #greenloopExplain. Each asks the user first.

import * as vscode from "vscode";

import { type LanguageModelTool, toolRegistry } from "../agentApi";
import { explain, refine, verify } from "../agentRequests";
import type { RegisterFeature } from "../host";

interface VerifyInput {
  targets?: string[];
}
interface TestInput {
  test: string;
}

export const register: RegisterFeature = (host) => {
  const registry = toolRegistry();
  if (registry === undefined) {
    host.log.info("This editor has no language model tools.");
    return;
  }
  const { lm, LanguageModelTextPart: TextPart, LanguageModelToolResult: ToolResult } = registry;

  /** `question` and `what` are shown before the tool runs, `activity` meanwhile; `what` may come from a model. */
  function tool<Input>(
    activity: string, question: string, what: (input: Input) => string, answer: (input: Input, token: vscode.CancellationToken) => Promise<string>,
  ): LanguageModelTool<Input> {
    return {
      prepareInvocation: ({ input }) => ({
        invocationMessage: activity,
        confirmationMessages: { title: "greenloop", message: new vscode.MarkdownString(question).appendCodeblock(what(input), "text") },
      }),
      invoke: async ({ input }, token) => new ToolResult([new TextPart(await answer(input, token))]),
    };
  }

  const verifyTool = tool<VerifyInput>(
    "Verifying in greenloop's sandbox",
    "Save all files, and run the tests of the last commit in the sandbox?",
    ({ targets }) => targets?.join(", ") || "All tests.",
    async ({ targets }, token) => (await verify(host, targets ?? [], token)).text,
  );
  const explainTool = tool<TestInput>(
    "Explaining a failure with greenloop",
    "Save all files, and run the tests that reach the same code in the sandbox?",
    ({ test }) => test,
    async (input, token) => (await explain(host, input, token)).text,
  );
  const refineTool = tool<TestInput>(
    "Refining with greenloop",
    "Let greenloop's model change code until this test passes in the sandbox? A verified result is applied as settings say.",
    ({ test }) => test,
    async (input, token) => (await refine(host, input, token)).text,
  );
  host.context.subscriptions.push(
    lm.registerTool("greenloop_verify", verifyTool),
    lm.registerTool("greenloop_explain", explainTool),
    lm.registerTool("greenloop_refine", refineTool),
  );
};
