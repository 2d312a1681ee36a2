// Starts a real VS Code, opens a window on it, and runs the tests that live inside its extension host.

import * as fs from "node:fs";
import * as path from "node:path";

import { bridge } from "./support/bridge";
import { Code } from "./support/code";
import { BUILT } from "./support/places";
import { Window } from "./support/window";

/** Seconds that all of them may take. */
const LIMIT = Number(process.env["GREENLOOP_TEST_SECONDS"] ?? 240);

async function main(): Promise<number> {
  const began = Date.now();
  const window = await Window.launch();
  const between = await bridge(window);
  const environment = { GREENLOOP_TEST_BRIDGE: between.url, ...passed() };
  // Without that switch the tests of a browser's extension host are never begun.
  const code = new Code({ environment, options: ["--enable-smoke-test-driver"] });
  let outcome: number;
  try {
    await code.start();
    const ended = new Promise<number>((resolve) => {
      void window.page.exposeFunction("codeAutomationExit", resolve);
    });
    await window.page.exposeFunction("codeAutomationLog", (_kind: string, words: unknown[]) => {
      fs.appendFileSync(code.log, `${words.map(String).join(" ")}\n`);
    });
    const at = (place: string): string => `vscode-remote://${new URL(code.url).host}${path.join(BUILT, place)}`;
    await window.open(code.window([
      ["extensionDevelopmentPath", at("extension")],
      ["extensionTestsPath", at("inside.js")],
      ["skipWelcome", "true"],
    ]));
    outcome = await within(ended, window);
  } finally {
    between.close();
    await window.close();
    await code.stop();
  }
  console.log(`extension host: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  if (outcome === 0) code.remove();
  else console.log(`logs: ${code.base}`);
  return outcome;
}

/** The tests' own limits are shorter: this one is for a host that never came so far. */
async function within(ended: Promise<number>, window: Window): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(() => { void window.failed("extension host").then(() => { resolve(1); }); }, LIMIT * 1000);
  });
  const outcome = await Promise.race([ended, late]);
  clearTimeout(timer);
  return outcome;
}

function passed(): Record<string, string> {
  const names = ["GREENLOOP_TEST_ONLY", "GREENLOOP_TEST_PATIENCE"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

main().then(
  (outcome) => { process.exitCode = outcome; },
  (error: unknown) => { console.error(error); process.exitCode = 1; },
);
