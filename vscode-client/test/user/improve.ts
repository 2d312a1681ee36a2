// A function that is right and slow: the command asks for the goal, the result shows what it gained, one undo takes it back.

import { FAST_SOURCE, modelAnswer, modelScript, slowProject } from "../support/projects";
import type { Story } from "../support/stories";

const TITLE = "greenloop: Improve While Tests Pass…";

export const improve: Story = {
  setup: {
    files: slowProject("shop"),
    // On a busy machine the comparison of 200 inputs may take more than the default.
    machine: { "greenloop.sandbox.seconds": 60 },
    user: { "chat.disableAIFeatures": true, "files.exclude": { "pyproject.toml": true } },
  },
  async play(window, code, step) {
    const { page } = window;

    step("the command asks what the function is to become");
    code.prepare(modelScript(modelAnswer(FAST_SOURCE)));
    await window.openFile("shop.py");
    await window.text("unique").click();
    await page.keyboard.press("F1");
    // The list of goals takes the place of the palette, so `window.command` would wait for its end in vain.
    await page.locator(".quick-input-widget input").first().fill(`>${TITLE}`);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: TITLE }).first().waitFor();
    await page.keyboard.press("Enter");
    const goal = page.locator(".quick-input-list .monaco-list-row", { hasText: "faster" });
    await goal.waitFor();
    await goal.click();
    await window.notification(/Improving unique \(faster\)/).first().waitFor();

    step("the measured result is applied, and the message says what it gained");
    await window.text("dict.fromkeys").waitFor();
    await window.notification(/Improved: unique, .* ms → .* ms .*2 tests unchanged/).first().waitFor();
    await window.lens("✓ verified, ").first().waitFor();

    step("the hover shows what each line cost before and after");
    await window.text("unique").hover();
    const hover = page.locator(".monaco-hover", { hasText: "before: " });
    await hover.waitFor();
    await hover.getByText("██").first().waitFor();
    await page.keyboard.press("Escape");

    step("one undo takes it back");
    await window.lines().click();
    await page.keyboard.press("Control+Z");
    await window.text("seen.append(item)").waitFor();
  },
};
