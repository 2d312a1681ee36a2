// A new user without a model: the choice stays until it is made, the walkthrough is seen to its end, and a fix needs no model.

import * as assert from "node:assert/strict";
import * as path from "node:path";

import type { Story } from "../support/stories";

const FILES = {
  "adult.py": "def is_adult(age):\n    return age > 18\n",
  "test_adult.py": "from adult import is_adult\n\n\ndef test_eighteen():\n    assert is_adult(18)\n",
};
const STEPS = ["Install greenloop", "Choose how fixes are found", "Check the sandbox", "Refine the sample"];

export const firstRun: Story = {
  setup: {
    files: FILES,
    machine: { "greenloop.model": "", "greenloop.preset": "default" },
    user: { "window.autoDetectColorScheme": true, "files.exclude": { "pyproject.toml": true } },
    environment: { OLLAMA_HOST: "127.0.0.1:1" },
  },
  prepare: (code) => {
    // A cache without a model.
    code.environment["XDG_CACHE_HOME"] = path.join(code.folder, "cache");
  },
  async play(window, _code, step) {
    const { page } = window;
    const rows = page.locator(".quick-input-list .monaco-list-row");
    /** Runs a command that asks something, so that `window.command` would wait for its end in vain. */
    const openPick = async (title: string): Promise<void> => {
      await page.keyboard.press("F1");
      await page.locator(".quick-input-widget input").first().fill(`>${title}`);
      await rows.filter({ hasText: title }).first().waitFor();
      await page.keyboard.press("Enter");
    };

    step("the status bar and the empty view offer three ways, and nothing is modal");
    const item = page.locator(".statusbar-item", { hasText: "Choose how greenloop finds fixes" });
    await item.waitFor();
    await window.openFile("test_adult.py");
    await window.openSide("greenloop");
    const welcome = page.locator(".welcome-view");
    for (const way of ["Without a Model", "Download the Embedded Model", "Choose…"]) await welcome.locator(".monaco-button", { hasText: way }).waitFor();
    assert.equal(await page.locator(".monaco-dialog-box").count(), 0);
    await window.pictures("0-first-run");

    step("the status bar asks the same");
    await item.click();
    await rows.filter({ hasText: "Without a model" }).waitFor();
    assert.equal(await rows.count(), 3);
    await page.keyboard.press("Escape");

    step("the walkthrough is seen from its first to its last step");
    // In a narrow window steps have no pictures.
    await page.keyboard.press("Control+B");
    await openPick("Welcome: Open Walkthrough...");
    await rows.filter({ hasText: "Refine until tests pass" }).first().click();
    for (const [index, title] of STEPS.entries()) {
      const header = page.locator(".getting-started-step", { hasText: title }).first();
      await header.click();
      await header.locator(".button-container .monaco-button").first().waitFor();
      await page.locator(".getting-started-media img, .getting-started-media iframe").first().waitFor({ state: "attached" });
      await window.pictures(`walkthrough-${index + 1}`);
    }

    step("without a model: the choice is gone, and a slip is mended");
    await window.openSide("greenloop");
    await welcome.locator(".monaco-button", { hasText: "Without a Model" }).click();
    await item.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+Shift+E");
    await window.openFile("test_adult.py");
    await window.lens("Refine").first().waitFor();
    await window.goTo(4, 5);
    await page.keyboard.press("Control+Alt+g");
    await window.notification("Fixed: ").first().waitFor();
    await window.openFile("adult.py");
    await window.text("age >= 18").waitFor();
    await window.pictures("9-without-a-model");

    step("after a restart of the window nothing is asked again");
    await page.reload();
    await page.locator(".statusbar-item", { hasText: "greenloop" }).first().waitFor();
    // The list is answered after the question whether there is a model.
    await openPick("greenloop: Choose Model");
    await rows.filter({ hasText: "Embedded model" }).first().waitFor();
    assert.equal(await item.count(), 0);
  },
};
