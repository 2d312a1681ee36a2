// A capable model looks at a file before it answers: the look is seen in the progress, the hover and the attempts view.

import * as fs from "node:fs";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import { editAnswer, looks, modelScript } from "../support/projects";
import type { Story } from "../support/stories";

const LOOKUP = "    return RATES[kind.strip()]\n";
const SHOP = `import json
from pathlib import Path

RATES = json.loads((Path(__file__).parent / "rates.json").read_text())


def price(kind):
${LOOKUP}`;
const TEST = 'from shop import price\n\n\ndef test_price():\n    assert price(" Pen ") == 19\n';

export const capable: Story = {
  setup: {
    files: { "shop.py": SHOP, "rates.json": '{"pen": 19}\n', "test_shop.py": TEST, gate: "" },
    machine: { "greenloop.preset": "default", "greenloop.modelKind": "capable", "greenloop.sandbox.seconds": 60 },
    user: { "chat.disableAIFeatures": true, "files.exclude": { gate: true, "pyproject.toml": true } },
  },
  async play(window, code, step) {
    const { page } = window;
    const gate = path.join(code.project, "gate");
    // Waits in its test for the gate, so that the run can be looked at.
    const waiting = `    import time\n    while not open(${JSON.stringify(gate)}).read():\n        time.sleep(0.01)\n    return 0\n`;
    const right = LOOKUP.replace("strip()", "strip().lower()");
    code.prepare(modelScript(looks(["read", { path: "rates.json" }], ["search", { text: "RATES" }]), editAnswer("shop.py", LOOKUP, waiting), editAnswer("shop.py", LOOKUP, right)));

    step("the progress counts the looks before the answer");
    await window.openFile("test_shop.py");
    await window.lens("Refine").first().click();
    await window.notification(/Refining test_price.*2 looks/).first().waitFor();

    step("the hover names the model with its kind, and lists its looks");
    await window.text("test_price").hover();
    const hover = page.locator(".monaco-hover", { hasText: "Looks before attempt" });
    await hover.waitFor();
    await hover.getByText("scripted (capable)").first().waitFor();
    await hover.getByText("read rates.json").first().waitFor();
    await hover.getByText('search RATES: shop.py:4: RATES = json.loads(').first().waitFor();
    await page.keyboard.press("Escape");

    step("the answer is applied");
    fs.writeFileSync(gate, "go");
    await window.notification("Fixed: ").first().waitFor();
    await window.openFile("shop.py");
    await window.text("kind.strip().lower()").waitFor();

    step("the view has the looks below their attempt");
    await window.openSide("greenloop");
    const row = (words: string): Locator => page.locator(".pane-body .monaco-list-row", { hasText: words });
    await row("test_price").click();
    await page.keyboard.press("ArrowRight");
    await row("Attempt").filter({ hasText: "2 looks" }).locator(".monaco-tl-twistie").click();
    await row("read rates.json").waitFor();
  },
};
