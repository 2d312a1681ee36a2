// Where everything is: the build, the real VS Code, Python with greenloop, and the folder of what a failure leaves.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** `vscode-client/`; scripts/test.mjs starts everything there. */
export const ROOT = process.cwd();
export const VSCODE = path.join(ROOT, ".vscode-test", "vscode");
export const BUILT = path.join(ROOT, ".vscode-test", "build");
/** Screenshots and logs of what failed. */
export const FAILED = path.join(ROOT, ".vscode-test", "failed");
/** Screenshots for the README; `npm run pictures` copies them to media/. */
export const PICTURES = path.join(ROOT, ".vscode-test", "pictures");
export const VSIX = process.env["GREENLOOP_VSIX"] ?? "";
export const PYTHON = process.env["PYTHON"] ?? "python3";
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** A new folder, not inside of any project; readable by others, else the sandbox of root works on a copy of it. */
export function folder(name: string): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), `gl-${name}-`));
  fs.chmodSync(made, 0o755);
  return made;
}

export function write(base: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(base, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}
