// The Testing view without the Python extension: runs, a refinement with its attempts, an explanation; then Undo and Keep.

import * as fs from "node:fs";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import { PICTURES, writeFiles } from "../support/paths";
import { descendants, languageServers } from "../support/processes";
import { functionSource, modelAnswer, modelScript, waitingFunction } from "../support/projects";
import type { Story } from "../support/stories";
import { until } from "../support/until";

const TESTS = `import pytest

from price import price


class TestPrice:
    def test_free(self):
        assert price(0) == 0

    @pytest.mark.parametrize("amount", [1, 5])
    def test_paid(self, amount):
        assert price(amount) == amount * 2
`;
const BEFORE = `"""Prices."""\n\n\n${functionSource("price", "x + 1")}`;

/** `theme` is the name of a colour theme, `word` the end of the pictures' names. */
export const testing = (theme: string, word: string): Story => ({
  setup: {
    files: { "price.py": BEFORE, "test_price.py": TESTS, gate: "" },
    // A test that waits for the gate is never ended by its limit.
    machine: { "greenloop.sandbox.seconds": 600 },
    user: { "workbench.colorTheme": theme, "chat.disableAIFeatures": true, "files.exclude": { gate: true, "pyproject.toml": true } },
  },
  async play(window, code, step) {
    const { page } = window;
    const gate = path.join(code.project, "gate");
    const picture = (name: string): Promise<void> => window.picture(path.join(PICTURES, `${name}-${word}.png`));
    const row = (words: string): Locator => page.locator(".test-explorer .monaco-list-row", { hasText: words }).first();
    const label = async (name: string): Promise<string> => (await row(name).getAttribute("aria-label")) ?? "";
    const waitForState = (name: string, state: RegExp): Promise<unknown> => {
      let last = "";
      return until(`${name} ${String(state)}`, async () => state.test((last = await label(name))), () => last);
    };
    const expand = async (name: string, child: string): Promise<void> => {
      await row(name).locator(".monaco-tl-twistie.collapsible").waitFor();
      await row(name).click();
      await page.keyboard.press("ArrowRight");
      await row(child).waitFor();
    };
    const runWith = async (name: string, profile: string): Promise<void> => {
      await row(name).click({ button: "right" });
      // A click that comes too soon after the menu has opened is ignored.
      await page.locator(".monaco-menu .action-label", { hasText: "Execute Using Profile" }).first().hover();
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: profile }).first().click();
    };
    const run = async (name: string): Promise<void> => {
      await row(name).hover();
      await row(name).locator(".codicon-testing-run-icon").first().click();
    };

    step("the tests are in the gutter and in the Testing view");
    await window.openFile("test_price.py");
    await page.locator(".testing-run-glyph").first().waitFor();
    await window.openSide("Testing");
    await expand("test_price.py", "TestPrice");
    await expand("TestPrice", "test_free");
    await picture("9-testing");

    step("a run shows each result, and the failure at its line");
    await run("TestPrice");
    await waitForState("test_free", /Failed/);
    await expand("test_paid", "[5]");
    await waitForState("[5]", /Failed/);
    await waitForState("[1]", /Passed/);
    await picture("10-results");

    step("a refinement shows each attempt's error at its line");
    const wait = waitingFunction("price", "x", gate);
    code.prepare(modelScript(modelAnswer(functionSource("price", "x + 7")), modelAnswer(wait), modelAnswer(functionSource("price", "x * 2"))));
    await runWith("test_free", "Refine Until Tests Pass");
    await page.getByText(/attempt 1: AssertionError/).first().waitFor();
    await picture("11-attempts");
    fs.writeFileSync(gate, "go");
    await waitForState("test_free", /Passed/);
    // What the result also turned green.
    await waitForState("[5]", /Passed/);

    step("the changed lines are marked, with Keep and Undo");
    await window.openFile("price.py");
    await window.lens("Keep").waitFor();
    // In a style sheet, not in the text.
    const replaced = (): Promise<boolean> => page.evaluate("[...document.querySelectorAll('.view-lines span')].some((each) => getComputedStyle(each, '::after').content.includes('return x + 1'))");
    await until("the replaced line behind the new one", replaced);
    await window.command("Notifications: Clear All Notifications");
    await picture("12-inline-diff");

    step("Undo takes the result back, and what was typed since stays");
    await window.goTo(2);
    await page.keyboard.type("# typed since");
    await window.lens("Undo").click();
    await window.lens("Keep").waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    await until("the text from before", () => code.read("price.py") === BEFORE.replace("\n\n\n", "\n# typed since\n\n"), () => code.read("price.py"));

    step("Keep removes the marks, and the result stays");
    await window.command("greenloop: Apply Result");
    await window.lens("Keep").click();
    await window.lens("Keep").waitFor({ state: "detached" });
    await window.text("return x * 2").waitFor();
    await page.keyboard.press("Control+S");

    step("an explanation without a model");
    await window.openSide("Testing");
    fs.writeFileSync(path.join(code.project, "price.py"), BEFORE);
    await window.text("return x + 1").waitFor();
    await runWith("test_free", "Explain");
    await page.getByText(/suspicion \d\.\d+ of 1/).first().waitFor();
    await picture("13-explain");

    step("stopping a run ends it at once, and its processes");
    const slow = `def test_slow():\n    while not open(${JSON.stringify(gate)}).read():\n        pass\n`;
    fs.writeFileSync(gate, "");
    writeFiles(code.project, { "test_slow.py": slow });
    await row("test_slow.py").waitFor();
    const server = languageServers(code.pid)[0]?.pid ?? 0;
    const resting = new Set(descendants(server).map((each) => each.pid));
    await run("test_slow.py");
    await until("the sandbox's processes", () => descendants(server).some((each) => !resting.has(each.pid)));
    await window.command("Test: Cancel Test Run");
    await page.locator(".codicon-testing-run-all-icon:visible").first().waitFor();
    await until("end of the sandbox", () => descendants(server).every((each) => resting.has(each.pid)), () => descendants(server));

    step("the view follows saved, renamed and deleted files");
    fs.renameSync(path.join(code.project, "test_slow.py"), path.join(code.project, "test_quick.py"));
    await row("test_quick.py").waitFor();
    await row("test_slow.py").waitFor({ state: "detached" });
    fs.rmSync(path.join(code.project, "test_quick.py"));
    await row("test_quick.py").waitFor({ state: "detached" });
    await window.openFile("test_price.py");
    await window.goTo(7, 9);
    await page.keyboard.type("test_none_and_");
    await page.keyboard.press("Control+S");
    await window.openSide("Testing");
    await row("test_none_and_").waitFor();
  },
});
