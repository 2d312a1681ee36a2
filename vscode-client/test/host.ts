// Starts a real VS Code, opens a window, and runs the tests that live inside its extension host.

import * as fs from "node:fs";
import * as path from "node:path";

import { startBridge } from "./support/bridge";
import { BUILD } from "./support/paths";
import { CodeServer } from "./support/vscodeServer";
import { Window } from "./support/window";

/** Time limit for all tests together. */
const LIMIT_SECONDS = Number(process.env["GREENLOOP_TEST_SECONDS"] ?? 300);

async function main(): Promise<number> {
  const began = Date.now();
  const window = await Window.launch();
  const bridge = await startBridge(window);
  const environment = { GREENLOOP_TEST_BRIDGE: bridge.url, ...forwardedVariables() };
  // Without this switch, a browser's extension host does not run tests.
  const code = new CodeServer({ environment, options: ["--enable-smoke-test-driver"] });
  let outcome: number;
  try {
    await code.start();
    const ended = new Promise<number>((resolve) => {
      void window.page.exposeFunction("codeAutomationExit", resolve);
    });
    await window.page.exposeFunction("codeAutomationLog", (_kind: string, words: unknown[]) => {
      fs.appendFileSync(code.log, `${words.map(String).join(" ")}\n`);
    });
    const remoteUri = (place: string): string => `vscode-remote://${new URL(code.url).host}${path.join(BUILD, place)}`;
    await window.open(code.window([
      ["extensionDevelopmentPath", remoteUri("extension")],
      ["extensionTestsPath", remoteUri("hostTests.js")],
      ["skipWelcome", "true"],
    ]));
    outcome = await withTimeout(ended, window);
  } finally {
    bridge.close();
    await window.close();
    await code.stop();
  }
  console.log(`extension host: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  if (outcome === 0) code.remove();
  else console.log(`logs: ${code.folder}`);
  return outcome;
}

/** Single tests have shorter limits; this one is for an extension host that never starts. */
async function withTimeout(ended: Promise<number>, window: Window): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<number>((resolve) => {
    timer = setTimeout(() => { void window.saveFailure("extension host").then(() => { resolve(1); }); }, LIMIT_SECONDS * 1000);
  });
  const outcome = await Promise.race([ended, timeout]);
  clearTimeout(timer);
  return outcome;
}

function forwardedVariables(): Record<string, string> {
  const names = ["GREENLOOP_TEST_ONLY", "GREENLOOP_TEST_PATIENCE", "GREENLOOP_TEST_STORIES"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

main().then(
  (outcome) => { process.exitCode = outcome; },
  (error: unknown) => { console.error(error); process.exitCode = 1; },
);
