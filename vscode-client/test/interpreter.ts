// The interpreter of the Python extension (a stand-in with its API): it runs greenloop, and a change of it restarts.

import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

import type { Code } from "./support/code";
import { PYTHON, ROOT, write } from "./support/places";
import { servers } from "./support/processes";
import { red } from "./support/projects";
import { told } from "./support/tell";
import { until } from "./support/until";
import type { Window } from "./support/window";

const chosen = (code: Code, python: string): void => { fs.writeFileSync(path.join(code.base, "home/chosen"), python); };

/** The stand-in as a package of its own. */
function packed(): string {
  const vsix = path.join(ROOT, ".vscode-test/python.vsix");
  const flags = ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", vsix];
  execFileSync(process.execPath, [path.join(ROOT, "node_modules/@vscode/vsce/vsce"), ...flags], {
    cwd: path.join(ROOT, "test/python"),
    stdio: "ignore",
  });
  return vsix;
}

function prepare(code: Code): void {
  const lead = `#!/bin/sh\nPYTHONPATH='${process.env["PYTHONPATH"] ?? ""}' exec '${PYTHON}' "$@"\n`;
  write(code.base, { one: lead, two: lead });
  ["one", "two"].forEach((name) => { fs.chmodSync(path.join(code.base, name), 0o755); });
  chosen(code, path.join(code.base, "bare/bin/python"));
}

async function play(window: Window, code: Code, step: (name: string) => void): Promise<void> {
  const status = window.page.locator(".statusbar-item", { hasText: "greenloop" }).first();
  const stands = (words: RegExp): Promise<unknown> =>
    until(`status ${String(words)}`, async () => words.test((await status.getAttribute("aria-label")) ?? ""));
  const running = (): number[] => servers(code.pid).map((each) => each.pid);

  step("its interpreter has no greenloop: installing is offered");
  await stands(/not installed yet/);
  assert.deepEqual(running(), []);

  step("another one is chosen, it runs");
  chosen(code, path.join(code.base, "one"));
  await stands(/ready/);
  const [first] = running();

  step("and another: restarted, one server");
  chosen(code, path.join(code.base, "two"));
  await until("another server", () => running().length === 1 && running()[0] !== first);
  await stands(/ready/);
}

told("the Python extension", [
  {
    setup: {
      machine: { "greenloop.python": "" },
      environment: { PYTHONPATH: "", PATH: "/usr/local/bin:/usr/bin:/bin" },
      files: red("twice"),
      options: ["--install-extension", packed()],
    },
    prepare,
    play,
  },
]);
