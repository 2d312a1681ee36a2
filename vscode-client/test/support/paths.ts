// Paths: the build, the real VS Code, the Python with greenloop, and the folder for what failed tests leave.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** `vscode-client/`; scripts/test.mjs starts everything there. */
export const ROOT = process.cwd();
export const VSCODE = path.join(ROOT, ".vscode-test", "vscode");
export const BUILD = path.join(ROOT, ".vscode-test", "build");
/** Screenshots of failed tests. */
export const FAILURES = path.join(ROOT, ".vscode-test", "failed");
/** Screenshots for the README; `npm run pictures` copies them to media/. */
export const PICTURES = path.join(ROOT, ".vscode-test", "pictures");
export const VSIX = process.env["GREENLOOP_VSIX"] ?? "";
export const PYTHON = process.env["PYTHON"] ?? "python3";
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** A new folder outside every project. Others can read it; else root's sandbox would work on a copy. */
export function makeTempFolder(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `gl-${name}-`));
  fs.chmodSync(folder, 0o755);
  return folder;
}

export function writeFiles(base: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(base, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}
