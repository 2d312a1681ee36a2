// Bundles the tests into .vscode-test/build/.

import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const BUILD = path.join(ROOT, ".vscode-test/build");

/** Kinds of tests in VS Code, each a program of its own. */
export const KINDS = ["host", "user", "interpreter", "live"];

/** The kinds that have stories: tests of which each shows one promise. */
export const STORIES = ["host", "user"];

/** Run by `npm test` only on request: an installation downloads packages, and a measurement needs an idle machine. */
export const ON_REQUEST = ["install", "activation"];

/** Bundles the tests that VS Code loads into its extension host, and those that run in Node.js. */
export async function bundle() {
  await rm(BUILD, { recursive: true, force: true });
  await mkdir(path.join(BUILD, "extension"), { recursive: true });
  const common = { absWorkingDir: ROOT, bundle: true, platform: "node", format: "cjs", target: "node20", sourcemap: "inline" };
  await build({
    ...common,
    entryPoints: { hostTests: "test/host/index.ts", activationTests: "test/activation/index.ts", "extension/extension": "test/extension/extension.ts" },
    outdir: BUILD,
    external: ["vscode"],
  });
  const programs = Object.fromEntries([...KINDS, ...ON_REQUEST].map((each) => [each, `test/${each}.ts`]));
  await build({ ...common, entryPoints: programs, outdir: BUILD, external: ["playwright-core"] });
  await cp(path.join(ROOT, "test/extension/package.json"), path.join(BUILD, "extension/package.json"));
}
