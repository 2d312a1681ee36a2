// A user without greenloop: the offer, a cancelled installation, one that fails, one that works, and a refinement then.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import type { Code } from "./support/code";
import { answer, fn, red, script } from "./support/projects";
import { beneath } from "./support/processes";
import { told } from "./support/tell";
import { until } from "./support/until";
import type { Window } from "./support/window";

/** Seconds for some seventy packages from the network. */
const PATIENCE = 400;

async function play(window: Window, code: Code, step: (name: string) => void): Promise<void> {
  const storage = path.join(code.base, "data/User/globalStorage/greenloop.greenloop/environments");
  const made = (): string[] => (fs.existsSync(storage) ? fs.readdirSync(storage) : []);
  const status = window.page.locator(".statusbar-item", { hasText: "greenloop" }).first();
  const standing = (): Promise<string> => status.getAttribute("aria-label").then((label) => label ?? "");
  const stands = (words: RegExp, seconds?: number): Promise<unknown> =>
    until(`status ${String(words)}`, async () => words.test(await standing()), () => "", seconds);

  step("installing is offered");
  await stands(/greenloop is not installed yet/);

  step("it begins, and a cancel leaves nothing");
  await window.press("greenloop is not installed yet", "Install");
  await window.notification(/Installing greenloop .*(collecting|downloading)/).first().waitFor();
  const pip = (): number[] => beneath(code.pid).filter((each) => each.words.includes("-m pip")).map((each) => each.pid);
  assert.notDeepEqual(pip(), []);
  await window.press("Installing greenloop", "Cancel");
  await stands(/greenloop is not installed yet/);
  assert.deepEqual(made(), []);
  assert.deepEqual(pip(), []);

  step("without a network it fails with a sentence");
  const pipConfiguration = path.join(code.base, "home/config/pip/pip.conf");
  fs.mkdirSync(path.dirname(pipConfiguration), { recursive: true });
  fs.writeFileSync(pipConfiguration, "[global]\nno-index = true\n");
  await window.command("greenloop: Install greenloop");
  await window.notification("greenloop could not be installed").first().waitFor();
  assert.deepEqual(made(), []);

  step("its button tries again");
  fs.rmSync(pipConfiguration);
  await window.press("greenloop could not be installed", "Retry");
  await stands(/ready/, PATIENCE);
  assert.equal(made().length, 1);

  step("the key refines");
  code.put(script(answer(fn("twice", "x * 2"))), red("twice"));
  await window.openFile("test_twice.py");
  await window.goTo(4);
  await window.page.keyboard.press("Control+Alt+G");
  await window.openFile("twice.py");
  await window.text("x * 2").waitFor();
}

const nothing = { PYTHONPATH: "", PATH: "/usr/local/bin:/usr/bin:/bin" };

told("a real installation", [
  { setup: { machine: { "greenloop.python": "" }, environment: nothing, files: red("twice") }, play },
]);
