// Once with nothing scripted: the embedded model makes the sample's red test green, in a real window.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

import type { Code } from "./support/code";
import { PYTHON } from "./support/places";
import { sample } from "./support/sample";
import { type Story, told } from "./support/tell";
import type { Window } from "./support/window";

/** Seconds for a model of 1.5 billion parameters on a busy machine. */
const SECONDS = 400;

const story: Story = {
  setup: { files: sample(), machine: { "greenloop.model": "local", "greenloop.preset": "default", "greenloop.attempts": 8 } },
  async play(window, code, step) {
    step("the embedded model makes the sample green");
    try {
      await green(window, code, step);
    } finally {
      // It is shared by all editors and goes on for a while without them.
      const stop = "import asyncio; from greenloop.embedded import server; asyncio.run(server.stop())";
      spawnSync(PYTHON, ["-c", stop], { env: code.environment, stdio: "inherit" });
    }
  },
};

async function green(window: Window, code: Code, step: (name: string) => void): Promise<void> {
  const before = code.read("fibonacci.py");
  await window.openFile("test_fibonacci.py");
  await window.lens("Refine").first().waitFor();
  await window.goTo(8, 5);
  await window.page.keyboard.press("Control+Alt+g");
  await window.notification(/Refining/).first().waitFor();
  await window.notification("fixed, verified").first().waitFor({ timeout: SECONDS * 1000 });
  await window.openFile("fibonacci.py");

  step("one undo takes it back");
  await window.lines().click();
  await window.page.keyboard.press("Control+Z");
  await window.page.locator(".tab.active:not(.dirty)", { hasText: "fibonacci.py" }).waitFor();
  if (code.read("fibonacci.py") !== before) throw new Error("the file on the disk has changed");
}

const weights = path.join(process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"), "greenloop", "models");
const there = fs.existsSync(weights) && fs.readdirSync(weights).some((name) => name.endsWith(".gguf"));
const required = (process.env["GREENLOOP_REQUIRE"] ?? "").split(",").includes("model");
if (there || required) told("the embedded model", [story]);
else console.log("skipped: the embedded model's weights are not here; install: greenloop model pull");
