// Lets tests inside the extension host look at the window that shows it and press its buttons.

import * as http from "node:http";
import type { AddressInfo } from "node:net";

import { Window } from "./window";

export interface WindowRequest {
  action: "see" | "press" | "answer" | "gone" | "clear" | "run" | "failed" | "tree" | "see-pick" | "report" | "row" | "dialog";
  text: string;
  button?: string;
}

async function handle(window: Window, request: WindowRequest): Promise<string> {
  const toast = window.notification(request.text).first();
  switch (request.action) {
    case "see":
      await toast.waitFor();
      return await toast.innerText();
    case "press":
      await window.press(request.text, request.button ?? "");
      return "";
    case "tree": {
      const rows = window.page.locator(".pane-body .monaco-list-row");
      await rows.first().waitFor();
      return JSON.stringify(await Promise.all((await rows.all()).map((row) => row.getAttribute("aria-label"))));
    }
    case "dialog": {
      const dialog = window.page.locator(".monaco-dialog-box", { hasText: request.text });
      await dialog.waitFor();
      const words = await dialog.innerText();
      await dialog.locator(".monaco-button", { hasText: request.button ?? "" }).first().click();
      return words;
    }
    case "see-pick":
      await window.page.locator(".quick-input-widget", { hasText: request.text }).first().waitFor();
      await window.page.keyboard.press("Escape");
      return "";
    case "report":
      console.log(request.text);
      return "";
    case "row":
      await window.page.locator(".pane-body .monaco-list-row", { hasText: request.text }).first().click();
      return "";
    case "gone":
      await toast.waitFor({ state: "hidden" });
      return "";
    case "run":
      await window.command(request.text);
      return "";
    case "answer": {
      // An input box or a quick pick.
      const input = window.page.locator(".quick-input-widget input").first();
      await input.waitFor();
      await input.fill(request.text);
      await window.page.keyboard.press("Enter");
      return "";
    }
    case "failed":
      return await window.saveFailure(request.text);
    case "clear":
      await window.command("Notifications: Clear All Notifications");
      return "";
  }
}

/** Starts the HTTP server that handles requests for `window`. */
export async function startBridge(window: Window): Promise<{ url: string; close: () => void }> {
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (data: Buffer) => parts.push(data));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as WindowRequest;
      handle(window, body).then(
        (value) => response.end(JSON.stringify({ value })),
        (error: unknown) => response.end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => server.close() };
}
