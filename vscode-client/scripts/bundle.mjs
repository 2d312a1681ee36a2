// Bundles the tests into .vscode-test/build/.

import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const BUILT = path.join(ROOT, ".vscode-test/build");

/** The kinds of tests in VS Code, each a program of its own. */
export const KINDS = ["host", "user", "interpreter", "live"];

/** What `npm test` runs only when asked: a real installation fetches packages, and a measurement wants a quiet machine. */
export const MORE = ["install", "activation"];

/** Those of the extension host are loaded by VS Code, the others by Node.js. */
export async function bundle() {
  await rm(BUILT, { recursive: true, force: true });
  await mkdir(path.join(BUILT, "extension"), { recursive: true });
  const common = { absWorkingDir: ROOT, bundle: true, platform: "node", format: "cjs", target: "node20", sourcemap: "inline" };
  await build({
    ...common,
    entryPoints: { inside: "test/host/index.ts", activated: "test/activation/inside.ts", "extension/extension": "test/extension/extension.ts" },
    outdir: BUILT,
    external: ["vscode"],
  });
  const outside = Object.fromEntries([...KINDS, ...MORE].map((each) => [each, `test/${each}.ts`]));
  await build({ ...common, entryPoints: outside, outdir: BUILT, external: ["playwright-core"] });
  await cp(path.join(ROOT, "test/extension/package.json"), path.join(BUILT, "extension/package.json"));
}
