// The chat participant @greenloop: /refine, /verify and /explain, with the attempts as they come. It asks no model itself.

import * as vscode from "vscode";

import { chatRegistry } from "../agentApi";
import { type AgentTarget, explain, refine, verify } from "../agentRequests";
import { isPython, pythonEditor } from "../commandTargets";
import { attemptName, formatAttempt, modelAttempts } from "../formatting";
import type { Host, RegisterFeature, Respond } from "../host";
import type { Run } from "../protocol";

const HELP = "Name a test (`test_m.py::test_double`), or put the cursor in one, and type `/refine`, `/verify` or `/explain`.";

export const register: RegisterFeature = (host) => {
  const chat = chatRegistry()?.chat;
  if (chat === undefined) {
    host.log.info("This editor has no chat participants.");
    return;
  }
  const participant = chat.createChatParticipant("greenloop.chat", (request, _context, stream, token) => respond(host, request, stream, token));
  participant.iconPath = vscode.Uri.joinPath(host.context.extensionUri, "media/icon.png");
  host.context.subscriptions.push(participant);
};

export async function respond(host: Host, ...[request, stream, token]: Parameters<Respond>): Promise<void> {
  const tests = request.prompt.match(/\S+\.py\b(::\S+)?/g) ?? [];
  const target = tests[0] === undefined ? targetOf(request.references) : { test: tests[0] };
  if (request.command === "verify") {
    stream.progress("Running the tests of the last commit in the sandbox…");
    showText(stream, await verify(host, tests, token));
  } else if (request.command === undefined && tests.length === 0) {
    stream.markdown(HELP);
  } else if (target === undefined) {
    stream.markdown(`There is no test here. ${HELP}`);
  } else if (request.command === "explain") {
    stream.progress("Running the test in the sandbox…");
    showText(stream, await explain(host, target, token));
  } else {
    await showRefinement(host, target, stream, token);
  }
}

/** The place that the user attached to the question, else the cursor. */
function targetOf(references: readonly vscode.ChatPromptReference[]): AgentTarget | undefined {
  const place = references.map(({ value }) => value).find((value): value is vscode.Location => value instanceof vscode.Location);
  const editor = pythonEditor() ?? vscode.window.visibleTextEditors.find(({ document }) => isPython(document));
  const [uri, position] = place !== undefined ? [place.uri, place.range.start] : [editor?.document.uri, editor?.selection.active];
  return uri === undefined || position === undefined ? undefined : { uri: uri.toString(), position: { line: position.line, character: position.character } };
}

async function showRefinement(host: Host, target: AgentTarget, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<void> {
  let shown = 0;
  let said = "";
  const showAttempts = (run: Run): void => {
    const attempts = modelAttempts(run);
    attempts.slice(shown).forEach((attempt) => {
      stream.markdown(`- ${attemptName(attempt.attempt)}: \`${formatAttempt(attempt).replaceAll("`", "'")}\`\n`);
    });
    shown = attempts.length;
    if (run.phase !== "over" && run.said !== said) {
      said = run.said;
      stream.progress(said);
    }
  };
  const { text, run } = await refine(host, target, token, showAttempts);
  showText(stream, { text });
  if (run === undefined) {
    return;
  }
  const ref = { uri: run.uri, target: run.target };
  if (run.applied) {
    stream.button({ command: "greenloop.here.keep", title: "Keep", arguments: [ref] });
    stream.button({ command: "greenloop.here.undo", title: "Undo", arguments: [ref] });
  }
  if (run.result !== null) {
    stream.button({ command: "greenloop.here.diff", title: "Show Changes", arguments: [ref] });
  }
  if (run.offered) {
    stream.button({ command: "greenloop.here.apply", title: "Apply Result", arguments: [ref] });
    stream.button({ command: "greenloop.here.discard", title: "Discard", arguments: [ref] });
  }
  if (modelAttempts(run).length > 0) {
    stream.button({ command: "greenloop.here.attempts", title: "Show Attempts", arguments: [ref] });
  }
}

/** As plain text: it quotes tests and models. */
function showText(stream: vscode.ChatResponseStream, { text }: { text: string }): void {
  stream.markdown(new vscode.MarkdownString().appendCodeblock(text, "text"));
}
