// With `apply = ask` a result waits for approval: its diff opens, and the message's button applies it.

import { failingProject, functionSource, modelAnswer, modelScript } from "../support/projects";
import type { Story } from "../support/stories";

export const review: Story = {
  setup: { machine: { "greenloop.apply": "ask" }, files: failingProject("twice") },
  async play(window, code, step) {
    step("a code lens refines");
    code.prepare(modelScript(modelAnswer(functionSource("twice", "x * 2"))));
    await window.openFile("test_twice.py");
    await window.lens("Refine").first().click();
    await window.notification(/Refining/).first().waitFor();

    step("a result that waits for approval is shown as a diff");
    await window.page.locator(".monaco-diff-editor").waitFor();
    const after = window.page.locator(".monaco-diff-editor .modified-in-monaco-diff-editor");
    await after.getByText("return x * 2").waitFor();

    step("its button applies it");
    await window.press("Apply its changes?", "Apply");
    await window.page.locator(".monaco-diff-editor").waitFor({ state: "detached" });
    await window.openFile("twice.py");
    await window.text("return x * 2").waitFor();
  },
};
