// Refines the failing test of the sample: lens, key, progress, squiggles, hover, result, undo, redo; then cancels a run.

import * as assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import { writeFiles } from "../support/paths";
import { descendants, languageServers } from "../support/processes";
import { modelAnswer, modelScript, waitingFunction } from "../support/projects";
import { sampleFiles } from "../support/sample";
import type { Story } from "../support/stories";
import { until } from "../support/until";

const DOCSTRING = '    """The first n Fibonacci numbers, beginning with 0."""\n';
const LOOP = "    while len(numbers) < n:\n        numbers.append(numbers[-1] + numbers[-2])\n";
const HEAD = `def fibonacci(n):\n${DOCSTRING}    numbers = [0, 1]\n`;

/** Looks plausible, but returns [1] for n = 1. */
const WRONG = `def fibonacci(n):\n${DOCSTRING}    numbers = [1, 1]\n${LOOP}    return numbers[:n]\n`;
const RIGHT = `${HEAD}${LOOP}    return numbers[:n]\n`;

export const story: Story = {
  setup: { files: { ...sampleFiles(), gate: "" }, user: { "window.autoDetectColorScheme": true, "chat.disableAIFeatures": true, "diffEditor.useInlineViewWhenSpaceIsLimited": false, "files.exclude": { gate: true, "pyproject.toml": true } } },
  async play(window, code, step) {
    const before = code.read("fibonacci.py");
    const { page } = window;
    const gate = path.join(code.project, "gate");
    const waitingAnswer = waitingFunction("fibonacci", "[]", gate, DOCSTRING).replace("(x)", "(n)");

    step("a code lens is shown above the failing test");
    await window.openFile("test_fibonacci.py");
    await window.lens("Refine").first().waitFor();
    await window.goTo(8, 5);
    await window.pictures("1-lens");

    step("the keyboard shortcut refines the test at the cursor, and a notification shows progress");
    writeFiles(code.folder, { model: modelScript(modelAnswer(WRONG), modelAnswer(waitingAnswer), modelAnswer(RIGHT)) });
    await page.keyboard.press("Control+Alt+g");
    const toast = window.notification(/Refining/).first();
    await toast.waitFor();
    await toast.locator(".monaco-button", { hasText: "Cancel" }).waitFor();
    await toast.getByText(/attempt 2/).waitFor();
    await window.lens("attempt 2/5").waitFor();
    await window.pictures("2-progress");

    step("the first attempt's failure is underlined and listed among the problems");
    await page.locator(".squiggly-error").first().waitFor();
    await page.keyboard.press("Control+Shift+M");
    await window.problems("assert [1] == [0]").first().waitFor();
    await window.text("test_one").click();
    await window.pictures("3-attempt");
    await page.keyboard.press("Control+J");

    step("the hover shows a table of the attempts");
    await window.text("test_one").hover();
    const table = page.locator(".monaco-hover table");
    await table.waitFor();
    assert.match(await table.innerText(), /your code/);
    await window.pictures("4-hover");
    await page.keyboard.press("Escape");

    step("the result is applied");
    await window.openFile("fibonacci.py");
    fs.writeFileSync(gate, "go");
    await window.text("return numbers[:n]").waitFor();
    await window.notification("Fixed: ").first().waitFor();
    await toast.waitFor({ state: "hidden" });
    await window.lens("✓ verified").first().waitFor();
    await window.text("return numbers[:n]").hover();
    await window.pictures("5-landed");
    assert.equal(code.read("fibonacci.py"), before);

    step("the view lists the attempts, and a click shows one as a diff");
    await window.openSide("greenloop");
    await window.widen(110);
    const row = (words: string): Locator => page.locator(".pane-body .monaco-list-row", { hasText: words });
    await row("test_one").click();
    await page.keyboard.press("ArrowRight");
    await row("Attempt 3").waitFor();
    await row("Attempt 1").click();
    await page.locator(".monaco-diff-editor").waitFor();
    await page.locator(".tab.active", { hasText: "attempt 1 of test_one (0/1)" }).waitFor();
    await row("Attempt 1").hover();
    await window.pictures("6-attempts-view");

    step("one undo restores the old text, redo the new one; no problems remain");
    await window.command("Notifications: Clear All Notifications");
    await page.keyboard.press("Control+Shift+E");
    await window.openFile("fibonacci.py");
    await window.lines().click();
    await page.keyboard.press("Control+Z");
    await window.text("return numbers[:n]").waitFor({ state: "detached" });
    await page.locator(".tab.active:not(.dirty)", { hasText: "fibonacci.py" }).waitFor();
    await page.keyboard.press("Control+Y");
    await window.text("return numbers[:n]").waitFor();
    await page.keyboard.press("Control+S");
    await until("the saved file", () => code.read("fibonacci.py") === RIGHT);
    await page.keyboard.press("Control+Shift+M");
    await page.getByText("No problems have been detected").waitFor();
    await page.keyboard.press("Control+Shift+M");

    step("the notification's button cancels a run and stops its sandbox");
    await window.openFile("test_fibonacci.py");
    fs.writeFileSync(gate, "");
    const server = languageServers(code.pid)[0]?.pid ?? 0;
    const resting = new Set(descendants(server).map((each) => each.pid));
    fs.writeFileSync(path.join(code.project, "test_fibonacci.py"), code.read("test_fibonacci.py").replace("== [0]\n", "== [0.5]\n"));
    await window.text("[0.5]").waitFor();
    writeFiles(code.folder, { model: modelScript(modelAnswer(waitingAnswer)) });
    await window.goTo(9, 5);
    await page.keyboard.press("Control+Alt+g");
    await window.notification(/attempt 1.*testing/).first().waitFor();
    await until("the sandbox's processes", () => descendants(server).some((each) => !resting.has(each.pid)));
    await window.press(/Refining/, "Cancel");
    await window.notification(/Refining/).first().waitFor({ state: "hidden" });
    await until("end of the sandbox", () => descendants(server).every((each) => resting.has(each.pid)), () => descendants(server));
    assert.equal(code.read("fibonacci.py"), RIGHT);
    await page.keyboard.press("Control+Shift+M");
    await page.getByText("No problems have been detected").waitFor();
    assert.deepEqual([...window.externalHosts], []);
  },
};
