// What tests inside of the extension host ask of the window that shows it: to look at messages and to press buttons.

import * as http from "node:http";
import type { AddressInfo } from "node:net";

import { Window } from "./window";

export interface Asked {
  what: "see" | "press" | "answer" | "gone" | "clear" | "run" | "failed" | "tree" | "see-pick" | "report" | "row";
  words: string;
  button?: string;
}

async function answer(window: Window, asked: Asked): Promise<string> {
  const toast = window.notification(asked.words).first();
  switch (asked.what) {
    case "see":
      await toast.waitFor();
      return await toast.innerText();
    case "press":
      await window.press(asked.words, asked.button ?? "");
      return "";
    case "tree": {
      const rows = window.page.locator(".pane-body .monaco-list-row");
      await rows.first().waitFor();
      return JSON.stringify(await Promise.all((await rows.all()).map((row) => row.getAttribute("aria-label"))));
    }
    case "see-pick":
      await window.page.locator(".quick-input-widget", { hasText: asked.words }).first().waitFor();
      await window.page.keyboard.press("Escape");
      return "";
    case "report":
      console.log(asked.words);
      return "";
    case "row":
      await window.page.locator(".pane-body .monaco-list-row", { hasText: asked.words }).first().click();
      return "";
    case "gone":
      await toast.waitFor({ state: "hidden" });
      return "";
    case "run":
      await window.command(asked.words);
      return "";
    case "answer": {
      // A box that asks for a text or a choice.
      const input = window.page.locator(".quick-input-widget input").first();
      await input.waitFor();
      await input.fill(asked.words);
      await window.page.keyboard.press("Enter");
      return "";
    }
    case "failed":
      return await window.failed(asked.words);
    case "clear":
      await window.command("Notifications: Clear All Notifications");
      return "";
  }
}

/** The address that answers, and its end. */
export async function bridge(window: Window): Promise<{ url: string; close: () => void }> {
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (data: Buffer) => parts.push(data));
    request.on("end", () => {
      const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked;
      answer(window, asked).then(
        (value) => response.end(JSON.stringify({ value })),
        (error: unknown) => response.end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => server.close() };
}
