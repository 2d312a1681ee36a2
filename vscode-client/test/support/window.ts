// A window of VS Code in Chromium. Each method is one action or observation of a user.

import * as fs from "node:fs";
import * as path from "node:path";

import { type BrowserContext, chromium, type Locator, type Page } from "playwright-core";

import { CHROMIUM, FAILURES, makeTempFolder, PICTURES } from "./paths";
import { TIMEOUT_SECONDS } from "./until";

const OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Of a window that does not come to rest. */
const MOST_PICTURES = 8;

export class Window {
  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly profile: string,
    /** Hosts other than this machine that the window contacted. */
    readonly externalHosts: Set<string>,
  ) {}

  static async launch(): Promise<Window> {
    const profile = makeTempFolder("chromium");
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      headless: true,
      viewport: { width: 1280, height: 800 },
      args: [...OPTIONS, ...QUIET],
    });
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(TIMEOUT_SECONDS * 1000);
    const strangers = new Set<string>();
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (/^(http|ws)/.test(protocol) && hostname !== "127.0.0.1") strangers.add(hostname);
    });
    return new Window(page, context, profile, strangers);
  }

  async open(url: string): Promise<void> {
    await this.page.goto(url);
    await this.page.locator(".monaco-workbench").waitFor();
  }

  async close(): Promise<void> {
    await this.context.close();
    fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Pictures of what the window shows, `NAME-light.png` and `NAME-dark.png`; the theme has to follow the system's. */
  async pictures(name: string): Promise<void> {
    if (!process.env["GREENLOOP_PICTURES"]) return;
    for (const [colorScheme, kind] of [["dark", "vs-dark"], ["light", "vs"]] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.locator(`.monaco-workbench.${kind}`).waitFor();
      // Colours and places follow in the next frames: until two pictures are the same, or seconds are counted.
      const file = path.join(PICTURES, `${name}-${colorScheme}.png`);
      for (let count = 0, last = ""; count < MOST_PICTURES; count++) {
        await this.picture(file);
        const next = fs.readFileSync(file, "base64");
        if (next === last) break;
        last = next;
      }
    }
  }

  async picture(file: string): Promise<void> {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    await this.page.screenshot({ path: file, animations: "disabled" });
  }

  /** Saves a screenshot for a failed test; returns its path. */
  async saveFailure(name: string): Promise<string> {
    const file = path.join(FAILURES, `${name.replace(/\W+/g, "-").slice(0, 80)}.png`);
    await this.picture(file).catch(() => undefined);
    return file;
  }

  private async pick(text: string, row: string | RegExp): Promise<void> {
    const input = this.page.locator(".quick-input-widget input").first();
    await input.waitFor();
    await input.fill(text);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: row }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  /** Opens a file of the project by a double click in the Explorer. */
  async openFile(name: string): Promise<void> {
    const row = this.page.locator(`.explorer-folders-view .monaco-list-row[aria-label="${name}"]`);
    if (!(await row.isVisible())) await this.page.keyboard.press("Control+Shift+E");
    await row.dblclick();
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
  }

  /** Opens a view container of the activity bar. */
  async openSide(name: string): Promise<void> {
    await this.page.locator(`.activitybar .action-label[aria-label^="${name}"]`).click();
  }

  /** Runs a command of the palette by its title. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    await this.pick(`>${title}`, title);
  }

  async goTo(line: number, column = 1): Promise<void> {
    await this.page.keyboard.press("Control+G");
    await this.pick(`:${String(line)}:${String(column)}`, `go to line ${String(line)} at column ${String(column)}`);
  }

  /** The text of the focused editor, as it is drawn. */
  lines(): Locator {
    return this.page.locator(".editor-instance .monaco-editor .view-lines").last();
  }

  text(text: string): Locator {
    return this.lines().getByText(text).first();
  }

  lens(title: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: title });
  }

  squiggles(): Locator {
    return this.page.locator(".monaco-editor .squiggly-error, .monaco-editor .squiggly-warning, .monaco-editor .squiggly-info");
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast-container, .notifications-list-container .monaco-list-row", { hasText: text });
  }

  /** Presses a button of a notification. */
  async press(text: string | RegExp, button: string | RegExp): Promise<void> {
    const toast = this.notification(text).first();
    await toast.waitFor();
    await toast.locator(".monaco-button", { hasText: button }).first().click();
  }

  /** Makes the side bar wider. */
  async widen(by: number): Promise<void> {
    const box = await this.page.locator('[id="workbench.parts.sidebar"]').boundingBox();
    if (box === null) throw new Error("there is no side bar");
    const [x, y] = [box.x + box.width + 1, box.y + box.height / 2];
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    await this.page.mouse.move(x + by, y, { steps: 5 });
    await this.page.mouse.up();
  }

  problems(text: string | RegExp = ""): Locator {
    return this.page.locator(".markers-panel .monaco-list-row", { hasText: text });
  }
}
