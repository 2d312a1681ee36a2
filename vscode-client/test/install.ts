// Installs greenloop as a new user: the offer, a cancelled, a failed and a successful installation, then a refinement.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import { descendants } from "./support/processes";
import { failingProject, functionSource, modelAnswer, modelScript } from "./support/projects";
import { runStories } from "./support/stories";
import { until } from "./support/until";
import type { CodeServer } from "./support/vscodeServer";
import type { Window } from "./support/window";

/** Seconds to download and install about sixty packages. */
const INSTALL_SECONDS = 400;

async function play(window: Window, code: CodeServer, step: (name: string) => void): Promise<void> {
  const storage = path.join(code.folder, "data/User/globalStorage/greenloop.greenloop/environments");
  const environments = (): string[] => (fs.existsSync(storage) ? fs.readdirSync(storage) : []);
  const status = window.page.locator(".statusbar-item", { hasText: "greenloop" }).first();
  const statusLabel = (): Promise<string> => status.getAttribute("aria-label").then((label) => label ?? "");
  const waitForStatus = (label: RegExp, seconds?: number): Promise<unknown> =>
    until(`status ${String(label)}`, async () => label.test(await statusLabel()), () => "", seconds);

  step("an installation is offered");
  await waitForStatus(/greenloop is not installed yet/);

  step("a cancelled installation leaves nothing");
  await window.press("greenloop is not installed yet", "Install");
  await window.notification(/Installing greenloop .*(collecting|downloading)/).first().waitFor();
  const pip = (): number[] => descendants(code.pid).filter((each) => each.commandLine.includes("-m pip")).map((each) => each.pid);
  assert.notDeepEqual(pip(), []);
  await window.press("Installing greenloop", "Cancel");
  await waitForStatus(/greenloop is not installed yet/);
  assert.deepEqual(environments(), []);
  assert.deepEqual(pip(), []);

  step("an installation that fails is reported in one sentence");
  const pipConfiguration = path.join(code.folder, "home/config/pip/pip.conf");
  fs.mkdirSync(path.dirname(pipConfiguration), { recursive: true });
  fs.writeFileSync(pipConfiguration, "[global]\nno-index = true\n");
  await window.command("greenloop: Install greenloop");
  await window.notification("greenloop could not be installed").first().waitFor();
  assert.deepEqual(environments(), []);

  step("its button retries");
  fs.rmSync(pipConfiguration);
  await window.press("greenloop could not be installed", "Retry");
  await waitForStatus(/ready/, INSTALL_SECONDS);
  assert.equal(environments().length, 1);

  step("the keyboard shortcut refines");
  code.prepare(modelScript(modelAnswer(functionSource("twice", "x * 2"))), failingProject("twice"));
  await window.openFile("test_twice.py");
  await window.goTo(4);
  await window.page.keyboard.press("Control+Alt+G");
  await window.openFile("twice.py");
  await window.text("x * 2").waitFor();
}

const withoutGreenloop = { PYTHONPATH: "", PATH: "/usr/local/bin:/usr/bin:/bin" };

runStories("installing greenloop", {
  install: { setup: { machine: { "greenloop.python": "" }, environment: withoutGreenloop, files: failingProject("twice") }, play },
});
