// Measures the activation time without the server, as VS Code reports it, over several new extension hosts.

import { BUILD } from "./support/paths";
import { CodeServer } from "./support/vscodeServer";
import { Window } from "./support/window";

/** Milliseconds from loading the bundle to the end of `activate`. */
const LIMIT_MS = 300;
const STARTS = Number(process.env["GREENLOOP_RUNS"] ?? 10);

interface Times {
  load: number;
  call: number;
  finish: number;
}

async function measureStart(code: CodeServer): Promise<Times> {
  const window = await Window.launch();
  try {
    let times: Times | undefined;
    await window.page.exposeFunction("codeAutomationLog", (_kind: string, words: unknown[]) => {
      const json = /activation (\{.*\})/.exec(words.map(String).join(" "))?.[1];
      times = json === undefined ? times : (JSON.parse(json) as Times);
    });
    const ended = new Promise<number>((resolve) => {
      void window.page.exposeFunction("codeAutomationExit", resolve);
    });
    const remoteUri = (place: string): string => `vscode-remote://${new URL(code.url).host}${BUILD}/${place}`;
    await window.open(code.window([
      ["extensionDevelopmentPath", remoteUri("extension")],
      ["extensionTestsPath", remoteUri("activationTests.js")],
      ["skipWelcome", "true"],
    ]));
    await ended;
    if (times === undefined) throw new Error("VS Code tells no times");
    return times;
  } finally {
    await window.close();
  }
}

function percentile(share: number, sorted: number[]): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

async function main(): Promise<boolean> {
  const code = new CodeServer({ options: ["--enable-smoke-test-driver"], files: { "m.py": "def f():\n    return 1\n", "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f() == 1\n" } });
  await code.start();
  const totals: number[] = [];
  try {
    for (let run = 1; run <= STARTS; run++) {
      const { load, call, finish } = await measureStart(code);
      totals.push(load + call + finish);
      console.log(`start ${String(run)}: ${String(load + call + finish)} ms (load ${String(load)}, activate ${String(call + finish)})`);
    }
  } finally {
    await code.stop();
    code.remove();
  }
  const sorted = [...totals].sort((a, b) => a - b);
  const p95 = percentile(0.95, sorted);
  console.log(`activation without the server, ${String(STARTS)} starts: first ${String(totals[0])} ms, p50 ${String(percentile(0.5, sorted))} ms, p95 ${String(p95)} ms (limit ${String(LIMIT_MS)} ms)`);
  return p95 < LIMIT_MS;
}

main().then(
  (isWithinLimit) => { process.exitCode = isWithinLimit ? 0 : 1; },
  (error: unknown) => { console.error(error); process.exitCode = 1; },
);
