// The Testing view without the Python extension: tests in the gutter, a run, a refinement with its attempts, Keep and Undo.

import * as fs from "node:fs";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import { FAILURES, PICTURES } from "../support/paths";
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
const WRONG = functionSource("price", "x + 1");
const RIGHT = functionSource("price", "x * 2");

/** `theme` is the name of a colour theme, `word` the end of the pictures' names. */
export const testing = (theme: string, word: string): Story => ({
  setup: {
    files: { "price.py": WRONG, "test_price.py": TESTS, gate: "" },
    user: { "workbench.colorTheme": theme, "chat.disableAIFeatures": true, "files.exclude": { gate: true, "pyproject.toml": true } },
  },
  async play(window, code, step) {
    const { page } = window;
    const gate = path.join(code.project, "gate");
    const picture = (name: string): Promise<void> => window.picture(path.join(PICTURES, `${name}-${word}.png`));
    const row = (words: string): Locator => page.locator(".test-explorer .monaco-list-row", { hasText: words }).first();
    const glyph = (line: number): Locator => page.locator(".testing-run-glyph").nth(line);
    const state = (name: string, label: RegExp): Promise<unknown> =>
      until(`${name} ${String(label)}`, async () => label.test((await row(name).getAttribute("aria-label")) ?? ""), async () => row(name).getAttribute("aria-label"));

    step("the tests are in the gutter and in the Testing view");
    await window.openFile("test_price.py");
    await glyph(0).waitFor();
    await window.openSide("Testing");
    await row("test_price.py").waitFor();
    await picture("9-testing");
    await row("test_price.py").click();
    await page.keyboard.press("ArrowRight");
    await row("TestPrice").waitFor();
    await row("TestPrice").click();
    await page.keyboard.press("ArrowRight");
    await row("test_free").waitFor();

    step("a run shows each result, and the message at its line");
    await row("TestPrice").hover();
    await row("TestPrice").locator(".codicon-testing-run-icon").click();
    await state("test_free", /Failed/);
    await picture("10-results");
  },
});
