// Packs the extension into greenloop-<version>.vsix, with greenloop's wheel and the hashes of its dependencies.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPOSITORY = path.dirname(path.resolve(ROOT));
const SERVER = path.join(ROOT, "server");
/** A copy of what is packed, with a README of its own. */
const STAGE = path.join(ROOT, ".vscode-test/package");
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

/**
 * The extension's page shows pictures from https addresses alone: those of the repository, of this version.
 * While the repository has no address, the page has no pictures, so that none is broken.
 */
async function stage({ repository, version }) {
  await rm(STAGE, { recursive: true, force: true });
  await mkdir(STAGE, { recursive: true });
  for (const name of ["dist", "media", "sample", "server", "package.json", "CHANGELOG.md", "LICENSE", ".vscodeignore"]) {
    await cp(path.join(ROOT, name), path.join(STAGE, name), { recursive: true });
  }
  const readme = await readFile(path.join(ROOT, "README.md"), "utf8");
  const hasAddress = !repository.url.includes("/OWNER/");
  await writeFile(path.join(STAGE, "README.md"), hasAddress ? readme : readme.replace(/^!\[.*\n\n?/gm, ""));
  const address = repository.url.replace(/\.git$/, "");
  const place = (kind) => `${address}/${kind}/v${version}/${repository.directory}`;
  return hasAddress ? ["--baseContentUrl", place("blob"), "--baseImagesUrl", place("raw")] : ["--no-rewrite-relative-links"];
}

/** Returns the path of the finished .vsix. */
export async function pack() {
  const manifest = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8"));
  const { name, version } = manifest;
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
  const flags = ["--no-dependencies", ...(await stage(manifest)), "--out", vsix];
  const vsce = path.join(ROOT, "node_modules/@vscode/vsce/vsce");
  const { stdout, stderr } = await run(process.execPath, [vsce, "package", ...flags], { cwd: STAGE });
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
