// With `apply = ask` a result waits: its diff opens, and the message's button applies it.

import { answer, fn, red, script } from "../support/projects";
import type { Story } from "../support/tell";

export const review: Story = {
  setup: { machine: { "greenloop.apply": "ask" }, files: red("twice") },
  async play(window, code, step) {
    step("a lens refines");
    code.put(script(answer(fn("twice", "x * 2"))));
    await window.openFile("test_twice.py");
    await window.lens("Refine").first().click();
    await window.notification(/Refining/).first().waitFor();

    step("a result that waits for a word is shown as a diff");
    await window.page.locator(".monaco-diff-editor").waitFor();
    const after = window.page.locator(".monaco-diff-editor .modified-in-monaco-diff-editor");
    await after.getByText("return x * 2").waitFor();

    step("its button puts it into the file");
    await window.press("Apply its changes?", "Apply");
    await window.page.locator(".monaco-diff-editor").waitFor({ state: "detached" });
    await window.openFile("twice.py");
    await window.text("return x * 2").waitFor();
  },
};
