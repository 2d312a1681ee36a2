// Draws media/icon.png from media/icon.svg, in the Chromium of the tests.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const MEDIA = fileURLToPath(new URL("../media", import.meta.url));
const SIZE = 128;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${await readFile(path.join(MEDIA, "icon.svg"), "utf8")}`);
await page.screenshot({ path: path.join(MEDIA, "icon.png"), omitBackground: true });
await browser.close();
