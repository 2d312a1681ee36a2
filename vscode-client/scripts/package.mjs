// Packs the extension into greenloop-<version>.vsix, with the wheel of greenloop and the hashes of what it needs.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPOSITORY = path.dirname(path.resolve(ROOT));
const SERVER = path.join(ROOT, "server");
const LIMIT = 3_000_000;
const run = promisify(execFile);

/** The ways to build a wheel, the quickest first; the last two fetch what they build with. */
const BUILDERS = [
  { needs: "hatchling", line: ["-m", "hatchling", "build", "-t", "wheel", "-d", SERVER] },
  { needs: "build", line: ["-m", "build", "--wheel", "-o", SERVER, "."] },
  { needs: "pip", line: ["-m", "pip", "wheel", "--no-deps", "-q", "-w", SERVER, "."] },
];

async function pythons() {
  const own = path.join(REPOSITORY, ".venv/bin/python");
  const there = await stat(own).then(() => true, () => false);
  return process.env.PYTHON ? [process.env.PYTHON] : [...(there ? [own] : []), "python3"];
}

async function wheel() {
  for (const python of await pythons()) {
    for (const { needs, line } of BUILDERS) {
      const has = await run(python, ["-c", `import ${needs}`]).then(() => true, () => false);
      if (has) {
        await run(python, line, { cwd: REPOSITORY });
        const names = await readdir(SERVER);
        return names.find((name) => name.endsWith(".whl"));
      }
    }
  }
  throw new Error("The wheel needs a Python with hatchling, build or pip; name one in the variable PYTHON.");
}

/** Path of the finished .vsix. */
export async function pack() {
  const { name, version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8"));
  await rm(SERVER, { recursive: true, force: true });
  await mkdir(SERVER, { recursive: true });
  const built = await wheel();
  if (!built?.startsWith(`greenloop-${version}-`)) {
    throw new Error(`The wheel is ${built}, the extension ${version}: server/greenloop/__init__.py and package.json differ.`);
  }
  const sum = createHash("sha256").update(await readFile(path.join(SERVER, built))).digest("hex");
  await writeFile(path.join(SERVER, "greenloop.sha256"), `${sum}\n`);
  await copyFile(path.join(ROOT, "constraints.txt"), path.join(SERVER, "constraints.txt"));
  await copyFile(path.join(REPOSITORY, "LICENSE"), path.join(ROOT, "LICENSE"));
  await run(process.execPath, ["scripts/build.mjs"], { cwd: ROOT });

  const vsix = path.join(ROOT, `${name}-${version}.vsix`);
  const flags = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "--out", vsix];
  const vsce = path.join(ROOT, "node_modules/@vscode/vsce/vsce");
  const { stdout, stderr } = await run(process.execPath, [vsce, "package", ...flags], { cwd: ROOT });
  if (/warning/i.test(stdout + stderr)) {
    throw new Error(`vsce warns:\n${stdout}${stderr}`);
  }
  const { size } = await stat(vsix);
  if (size > LIMIT) {
    throw new Error(`${vsix} has ${size} bytes, more than ${LIMIT}:\n${stdout}`);
  }
  return vsix;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vsix = await pack();
  const { size } = await stat(vsix);
  console.log(`${path.basename(vsix)}: ${size} bytes`);
}
