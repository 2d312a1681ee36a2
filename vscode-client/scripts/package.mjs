// Packs the extension into greenloop-<version>.vsix, with greenloop's wheel and the hashes of its dependencies.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPOSITORY = path.dirname(path.resolve(ROOT));
const SERVER = path.join(ROOT, "server");
const MAX_BYTES = 3_000_000;
const run = promisify(execFile);

/** Ways to build a wheel, fastest first; the last two download their build requirements. */
const BUILDERS = [
  { needs: "hatch_vcs", args: ["-m", "hatchling", "build", "-t", "wheel", "-d", SERVER] },
  { needs: "build", args: ["-m", "build", "--wheel", "-o", SERVER, "."] },
  { needs: "pip", args: ["-m", "pip", "wheel", "--no-deps", "-q", "-w", SERVER, "."] },
];

async function candidatePythons() {
  const projectPython = path.join(REPOSITORY, ".venv/bin/python");
  const exists = await stat(projectPython).then(() => true, () => false);
  return process.env.PYTHON ? [process.env.PYTHON] : [...(exists ? [projectPython] : []), "python3"];
}

async function buildWheel(version) {
  const env = { ...process.env, SETUPTOOLS_SCM_PRETEND_VERSION: version };
  for (const python of await candidatePythons()) {
    for (const { needs, args } of BUILDERS) {
      const has = await run(python, ["-c", `import ${needs}`]).then(() => true, () => false);
      if (has) {
        await run(python, args, { cwd: REPOSITORY, env });
        const names = await readdir(SERVER);
        return names.find((name) => name.endsWith(".whl"));
      }
    }
  }
  throw new Error("Building the wheel needs a Python with hatch-vcs, build or pip; set PYTHON to one.");
}

/** Returns the path of the finished .vsix. */
export async function pack() {
  const { name, version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8"));
  await rm(SERVER, { recursive: true, force: true });
  await mkdir(SERVER, { recursive: true });
  const built = await buildWheel(version);
  if (!built?.startsWith(`greenloop-${version}-`)) {
    throw new Error(`The wheel is ${built}, but the extension has version ${version}.`);
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
  if (size > MAX_BYTES) {
    throw new Error(`${vsix} has ${size} bytes, more than the limit of ${MAX_BYTES}:\n${stdout}`);
  }
  return vsix;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vsix = await pack();
  const { size } = await stat(vsix);
  console.log(`${path.basename(vsix)}: ${size} bytes`);
}
