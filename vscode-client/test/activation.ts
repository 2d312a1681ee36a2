// How long the activation takes, without the server: as VS Code measures it, in as many new extension hosts as wanted.

import { Code } from "./support/code";
import { BUILT } from "./support/places";
import { Window } from "./support/window";

/** Milliseconds from the first byte of the bundle to the end of `activate`. */
const LIMIT = 300;
const RUNS = Number(process.env["GREENLOOP_RUNS"] ?? 10);

interface Times {
  load: number;
  call: number;
  finish: number;
}

async function one(code: Code): Promise<Times> {
  const window = await Window.launch();
  try {
    let times: Times | undefined;
    await window.page.exposeFunction("codeAutomationLog", (_kind: string, words: unknown[]) => {
      const found = /activation (\{.*\})/.exec(words.map(String).join(" "))?.[1];
      times = found === undefined ? times : (JSON.parse(found) as Times);
    });
    const ended = new Promise<number>((resolve) => {
      void window.page.exposeFunction("codeAutomationExit", resolve);
    });
    const at = (place: string): string => `vscode-remote://${new URL(code.url).host}${BUILT}/${place}`;
    await window.open(code.window([
      ["extensionDevelopmentPath", at("extension")],
      ["extensionTestsPath", at("activated.js")],
      ["skipWelcome", "true"],
    ]));
    await ended;
    if (times === undefined) throw new Error("VS Code tells no times");
    return times;
  } finally {
    await window.close();
  }
}

function at(share: number, sorted: number[]): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

async function main(): Promise<boolean> {
  const code = new Code({ options: ["--enable-smoke-test-driver"], files: { "m.py": "def f():\n    return 1\n", "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f() == 1\n" } });
  await code.start();
  const totals: number[] = [];
  try {
    for (let run = 1; run <= RUNS; run++) {
      const { load, call, finish } = await one(code);
      totals.push(load + call + finish);
      console.log(`start ${String(run)}: ${String(load + call + finish)} ms (load ${String(load)}, activate ${String(call + finish)})`);
    }
  } finally {
    await code.stop();
    code.remove();
  }
  const sorted = [...totals].sort((a, b) => a - b);
  const p95 = at(0.95, sorted);
  console.log(`activation without the server, ${String(RUNS)} starts: first ${String(totals[0])} ms, p50 ${String(at(0.5, sorted))} ms, p95 ${String(p95)} ms (limit ${String(LIMIT)} ms)`);
  return p95 < LIMIT;
}

main().then(
  (fine) => { process.exitCode = fine ? 0 : 1; },
  (error: unknown) => { console.error(error); process.exitCode = 1; },
);
