// A thousand keys typed during a run and after it: all of them are in the text, and none went anywhere else.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import { failingProject, functionSource, modelAnswer, modelScript, waitingFunction } from "../support/projects";
import type { Story } from "../support/stories";
import { until } from "../support/until";

const KEYS = 1000;
const PAUSE_MS = 5;
const SENTENCES = ["# The quick brown fox jumps\n", "# over yon lazy dog\n", "# 1 2 3 q y n\n", "# No Yes quit\n"];

export const typing: Story = {
  setup: {
    files: { ...failingProject("keyed"), "notes.py": "", gate: "" },
    user: { "chat.disableAIFeatures": true, "files.exclude": { gate: true, "pyproject.toml": true } },
  },
  async play(window, code, step) {
    const { page } = window;
    const gate = path.join(code.project, "gate");
    let typed = "";
    const write = async (least: number): Promise<void> => {
      for (let count = 0; typed.length < least; count++) {
        const sentence = SENTENCES[count % SENTENCES.length] ?? "";
        await page.keyboard.type(sentence, { delay: PAUSE_MS });
        typed += sentence;
      }
    };

    step("keys typed during a run");
    await window.openFile("test_keyed.py");
    await window.lens("Refine").first().waitFor();
    await window.goTo(5);
    code.prepare(modelScript(modelAnswer(waitingFunction("keyed", "x", gate)), modelAnswer(functionSource("keyed", "x * 2"))));
    await page.keyboard.press("Control+Alt+g");
    await window.notification(/attempt 1.*testing/).first().waitFor();
    await window.openFile("notes.py");
    await window.lines().click();
    await write(KEYS / 3);

    step("keys typed while the result arrives, and after it");
    fs.writeFileSync(gate, "go");
    const changed = page.locator('.tab.dirty[data-resource-name="keyed.py"]');
    await until("the result", async () => {
      await write(typed.length + 1);
      return changed.isVisible();
    });
    await write(KEYS);
    await page.keyboard.press("Control+S");
    await until("the saved file", () => code.read("notes.py").length >= typed.length, () => code.read("notes.py"));
    assert.equal(code.read("notes.py"), typed);
    await window.openFile("keyed.py");
    await window.text("return x * 2").waitFor();
  },
};
