// Uses the interpreter of the Python extension (a stand-in with its API), and restarts the server when it changes.

import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

import { PYTHON, ROOT, writeFiles } from "./support/paths";
import { languageServers } from "./support/processes";
import { failingProject } from "./support/projects";
import { runStories } from "./support/stories";
import { until } from "./support/until";
import type { CodeServer } from "./support/vscodeServer";
import type { Window } from "./support/window";

const choosePython = (code: CodeServer, python: string): void => { fs.writeFileSync(path.join(code.folder, "home/chosen"), python); };

/** Packs the stand-in as a .vsix. */
function packStandIn(): string {
  const vsix = path.join(ROOT, ".vscode-test/python.vsix");
  const flags = ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", vsix];
  execFileSync(process.execPath, [path.join(ROOT, "node_modules/@vscode/vsce/vsce"), ...flags], {
    cwd: path.join(ROOT, "test/python"),
    stdio: "ignore",
  });
  return vsix;
}

function prepare(code: CodeServer): void {
  const wrapper = `#!/bin/sh\nPYTHONPATH='${process.env["PYTHONPATH"] ?? ""}' exec '${PYTHON}' "$@"\n`;
  writeFiles(code.folder, { one: wrapper, two: wrapper });
  ["one", "two"].forEach((name) => { fs.chmodSync(path.join(code.folder, name), 0o755); });
  choosePython(code, path.join(code.folder, "bare/bin/python"));
}

async function play(window: Window, code: CodeServer, step: (name: string) => void): Promise<void> {
  const status = window.page.locator(".statusbar-item", { hasText: "greenloop" }).first();
  const waitForStatus = (label: RegExp): Promise<unknown> =>
    until(`status ${String(label)}`, async () => label.test((await status.getAttribute("aria-label")) ?? ""));
  const running = (): number[] => languageServers(code.pid).map((each) => each.pid);

  step("an interpreter without greenloop: an installation is offered");
  await waitForStatus(/not installed yet/);
  assert.deepEqual(running(), []);

  step("another interpreter is chosen: the server starts");
  choosePython(code, path.join(code.folder, "one"));
  await waitForStatus(/ready/);
  const [first] = running();

  step("another interpreter is chosen: the server restarts");
  choosePython(code, path.join(code.folder, "two"));
  await until("another server", () => running().length === 1 && running()[0] !== first);
  await waitForStatus(/ready/);

  step("the tests of a folder are shown unless the Python extension shows them");
  const showPythonTests = (isEnabled: boolean): void => { writeFiles(code.project, { ".vscode/settings.json": JSON.stringify({ "python.testing.pytestEnabled": isEnabled }) }); };
  const row = window.page.locator(".test-explorer .monaco-list-row", { hasText: "test_twice.py" }).first();
  await window.openSide("Testing");
  await row.waitFor();
  showPythonTests(true);
  await row.waitFor({ state: "detached" });
  showPythonTests(false);
  await row.waitFor();
}

runStories("the Python extension", {
  interpreter: {
    setup: {
      machine: { "greenloop.python": "" },
      environment: { PYTHONPATH: "", PATH: "/usr/local/bin:/usr/bin:/bin" },
      files: failingProject("twice"),
      options: ["--install-extension", packStandIn()],
    },
    prepare,
    play,
  },
});
