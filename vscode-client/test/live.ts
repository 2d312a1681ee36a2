// Refines the sample with the embedded model in a real window; nothing is scripted.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

import { PYTHON } from "./support/paths";
import { sampleFiles } from "./support/sample";
import { runStories, type Story } from "./support/stories";
import type { CodeServer } from "./support/vscodeServer";
import type { Window } from "./support/window";

/** Seconds for a model of 1.5 billion parameters on a busy machine. */
const MODEL_SECONDS = 400;

const story: Story = {
  setup: { files: sampleFiles(), machine: { "greenloop.model": "local", "greenloop.preset": "default", "greenloop.attempts": 8 } },
  async play(window, code, step) {
    step("the embedded model refines the sample");
    try {
      await refineSample(window, code, step);
    } finally {
      // All editors share this process, and it outlives them for a while.
      const stop = "import asyncio; from greenloop.plugins.embedded import server; asyncio.run(server.stop())";
      spawnSync(PYTHON, ["-c", stop], { env: code.environment, stdio: "inherit" });
    }
  },
};

async function refineSample(window: Window, code: CodeServer, step: (name: string) => void): Promise<void> {
  const before = code.read("fibonacci.py");
  await window.openFile("test_fibonacci.py");
  await window.lens("Refine").first().waitFor();
  await window.goTo(8, 5);
  const pressed = Date.now();
  await window.page.keyboard.press("Control+Alt+g");
  await window.notification(/Refining/).first().waitFor();
  await window.notification("Fixed: ").first().waitFor({ timeout: MODEL_SECONDS * 1000 });
  console.log(`from the key to the fix: ${((Date.now() - pressed) / 1000).toFixed(1)} s`);
  await window.openFile("fibonacci.py");

  step("one undo reverts it");
  await window.lines().click();
  await window.page.keyboard.press("Control+Z");
  await window.page.locator(".tab.active:not(.dirty)", { hasText: "fibonacci.py" }).waitFor();
  if (code.read("fibonacci.py") !== before) throw new Error("the file on the disk has changed");
}

const weights = path.join(process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"), "greenloop", "models");
const hasWeights = fs.existsSync(weights) && fs.readdirSync(weights).some((name) => name.endsWith(".gguf"));
const isRequired = (process.env["GREENLOOP_REQUIRE"] ?? "").split(",").includes("model");
if (hasWeights || isRequired) runStories("the embedded model", { story });
else console.log("skipped: the embedded model's weights are not here; install: greenloop model pull");
