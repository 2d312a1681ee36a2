// What the editor's agents reach: the tools as they are registered, the chat participant's answers, the MCP server.
//
// No language model is signed in here, so no agent chooses a tool itself: tests invoke them, and answer the confirmations.

import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";

import * as vscode from "vscode";

import { chatRegistry, mcpRegistry, toolRegistry } from "../../src/agentApi";
import { failingProject, functionSource, modelAnswer, waitingFunction } from "../support/projects";
import { until } from "../support/until";
import { askWindow, createGate, extensionApi, openFile, prepareProject, projectFolder, story, test, waitForText } from "./helpers";

interface Tools {
  tools: { name: string; inputSchema: object; description: string }[];
  invokeTool(name: string, options: { input: object; toolInvocationToken: undefined }, token: vscode.CancellationToken): Promise<{ content: { value: string }[] }>;
}
const lm = vscode.lm as unknown as Tools;

/** Invokes a tool and allows it; the confirmation has to show these words. */
async function invoke(name: string, input: object, words: string, token = new vscode.CancellationTokenSource().token): Promise<string> {
  const answer = lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  const confirmation = askWindow("dialog", words, "Yes");
  await Promise.race([confirmation, answer]);
  return (await answer).content.map((part) => part.value).join("");
}

function git(...words: string[]): void {
  execFileSync("git", ["-C", projectFolder(), "-c", "user.name=n", "-c", "user.email=e@example.org", ...words], { stdio: "ignore" });
}

story("the editor's agents explain, refine and verify with a confirmation each, and get short answers", async () => {
  await extensionApi();
  const own = lm.tools.filter((each) => each.name.startsWith("greenloop_")).map((each) => each.name);
  assert.deepEqual(own.sort(), ["greenloop_explain", "greenloop_refine", "greenloop_verify"]);

  prepareProject([modelAnswer(functionSource("agent", "x * 3")), modelAnswer(functionSource("agent", "x * 2"))], failingProject("agent"));
  const test = "test_agent.py::test_agent";
  const module = (await openFile("agent.py")).document;
  git("init", "-q");
  git("add", "agent.py", "test_agent.py");
  git("commit", "-q", "-m", "begin");
  try {
    const explained = await invoke("greenloop_explain", { test }, test);
    assert.match(explained, /test_agent fails: AssertionError: assert 6 == 10 \(test_agent\.py:5\)/);
    assert.match(explained, /1\. agent, agent\.py:1/);
    assert.match(await invoke("greenloop_verify", { targets: [test] }, test), /not verified[^]*failed: test_agent[^]*Next: /);

    const refined = await invoke("greenloop_refine", { test }, test);
    assert.match(refined, /^Solved after 2 attempts: .*\nThe change is in agent\.py, not saved yet; one undo reverts it\./);
    assert.equal(module.getText(), functionSource("agent", "x * 2"));
    // Saves the file.
    assert.equal(await invoke("greenloop_verify", { targets: [test] }, test), "verified: 1 test passes, and nothing was faked.");
    for (const text of [explained, refined]) assert.ok(text.length <= 1600, text);
  } finally {
    fs.rmSync(`${projectFolder()}/.git`, { recursive: true, force: true });
  }
});

test("an agent's tool that is cancelled ends its run, and one that cannot run says why", async () => {
  const { host } = await extensionApi();
  const ended = async (): Promise<boolean> => (await host.client()?.sendRequest<number>("workspace/executeCommand", { command: "greenloop.cancel", arguments: [] })) === 0;
  prepareProject([modelAnswer(waitingFunction("halted", "x * 2", createGate("halted")))], failingProject("halted"));
  await openFile("halted.py");
  const source = new vscode.CancellationTokenSource();
  const answer = invoke("greenloop_refine", { test: "test_halted.py::test_halted" }, "test_halted", source.token);
  await until("the run's progress", async () => /attempt 1/.test(await askWindow("see", "Refining test_halted")));
  source.cancel();
  await assert.rejects(answer);
  await until("the end of the run", ended);
  assert.match(await invoke("greenloop_explain", { test: "test_halted.py::test_halt" }, "test_halt"), /no test/i);
});

/** A response stream that keeps what it shows. */
function recorder(): { stream: vscode.ChatResponseStream; shown: string[]; buttons: vscode.Command[] } {
  const shown: string[] = [];
  const buttons: vscode.Command[] = [];
  const stream = {
    markdown: (text: string | vscode.MarkdownString) => shown.push(typeof text === "string" ? text : text.value),
    progress: (text: string) => shown.push(`… ${text}`),
    button: (button: vscode.Command) => buttons.push(button),
  };
  return { stream: stream as unknown as vscode.ChatResponseStream, shown, buttons };
}

story("the chat's agent @greenloop shows the attempts of a refinement as they come, then buttons for its result", async () => {
  const { respond } = await extensionApi();
  const { token } = new vscode.CancellationTokenSource();
  prepareProject([modelAnswer(functionSource("chatted", "x * 3")), modelAnswer(functionSource("chatted", "x * 2"))], failingProject("chatted"));
  const module = (await openFile("chatted.py")).document;
  const editor = await openFile("test_chatted.py");
  editor.selection = new vscode.Selection(4, 4, 4, 4);

  const help = recorder();
  await respond({ command: undefined, prompt: "hello", references: [] }, help.stream, token);
  assert.match(help.shown.join(""), /\/refine/);

  // The test at the cursor.
  const explained = recorder();
  await respond({ command: "explain", prompt: "", references: [] }, explained.stream, token);
  assert.match(explained.shown.join("\n"), /1\. chatted, chatted\.py:1/);

  const { stream, shown, buttons } = recorder();
  await respond({ command: "refine", prompt: "", references: [] }, stream, token);
  await waitForText(module, functionSource("chatted", "x * 2"));
  const text = shown.join("\n");
  assert.match(text, /- attempt 1: `0\/1 AssertionError.*`\n[^]*- attempt 2: `1\/1.*`\n[^]*Solved after 2 attempts/);
  assert.match(text, /^… /m);
  assert.deepEqual(buttons.map((each) => each.title), ["Keep", "Undo", "Show Changes", "Show Attempts"]);
  const press = async (title: string): Promise<unknown> => {
    const button = buttons.find((each) => each.title === title);
    return vscode.commands.executeCommand(button?.command ?? "", ...((button?.arguments ?? []) as unknown[]));
  };
  await press("Show Changes");
  assert.ok(vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTextDiff);
  await press("Keep");
  await press("Undo");
  await waitForText(module, functionSource("chatted", "x + 1"));
});

story("agent mode finds greenloop's MCP server", async () => {
  await extensionApi();
  void vscode.commands.executeCommand("workbench.mcp.listServer");
  await askWindow("answer", "greenloop");
  await askWindow("answer", "Start Server");
  await until("the server's tools", () => lm.tools.some((each) => each.name.includes("report_impossible")), () => lm.tools.map((each) => each.name));
});

test("an editor without the API for agents gets no tools, no server and no participant", () => {
  const older = { lm: { selectChatModels: () => [] }, chat: {} };
  for (const api of [{}, older]) {
    assert.deepEqual([toolRegistry(api), mcpRegistry(api), chatRegistry(api)], [undefined, undefined, undefined]);
  }
  assert.ok(toolRegistry() && mcpRegistry() && chatRegistry());
  return Promise.resolve();
});
