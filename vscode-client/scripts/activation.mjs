// Measures the activation time of the packaged extension: `node scripts/activation.mjs [starts]`.

import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { bundle, BUILD } from "./bundle.mjs";
import { pack } from "./package.mjs";
import { vscode } from "./vscode.mjs";

const starts = process.argv[2] ?? "10";
await vscode();
await bundle();
const env = { ...process.env, GREENLOOP_VSIX: await pack(), GREENLOOP_RUNS: starts };
const cwd = fileURLToPath(new URL("..", import.meta.url));
const result = spawnSync(process.execPath, [path.join(BUILD, "activation.js")], { cwd, env, stdio: "inherit" });
process.exitCode = result.status ?? 1;
