// `npm test`: types, lint, the package, and its tests in a real VS Code. `npm test host` runs only that kind of test,
// `npm test stories` one story for each promise.

import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { bundle, BUILD, KINDS, ON_REQUEST, STORIES } from "./bundle.mjs";
import { pack } from "./package.mjs";
import { vscode } from "./vscode.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = path.join(ROOT, ".vscode-test");
const BIN = path.join(ROOT, "node_modules/.bin");

const requested = process.argv.slice(2);
const choices = [...KINDS, ...ON_REQUEST, "stories"];
const unknown = requested.filter((each) => !choices.includes(each));
if (unknown.length > 0) {
  console.error(`There are no tests called ${unknown.join(", ")}; choose from ${choices.join(", ")}.`);
  process.exit(2);
}
const onlyStories = requested.includes("stories");
const kinds = onlyStories ? STORIES : requested.length > 0 ? requested : KINDS;

let running;
function run(program, args, env = {}) {
  return new Promise((resolve, reject) => {
    running = spawn(program, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...env } });
    running.once("error", reject);
    running.once("exit", (code, signal) => (code === 0 ? resolve() : reject(new Error(`${path.basename(program)} ended with ${code ?? signal}`))));
  });
}

// The tests drive a real editor: in a full run a failed kind is run once more, and reported as unsteady if it passes.
const retriesFailures = (onlyStories || requested.length === 0) && !process.env.GREENLOOP_STRICT;
const times = [];
let failed = 0;
async function step(name, work) {
  console.log(`\n== ${name}`);
  const began = Date.now();
  let outcome = "";
  try {
    return await work();
  } catch (error) {
    failed += 1;
    outcome = "  FAILED";
    console.error(error.message);
    return undefined;
  } finally {
    times.push(`${name.padEnd(32)} ${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s${outcome}`);
  }
}

function python() {
  if (process.env.PYTHON) return process.env.PYTHON;
  const projectPython = path.join(ROOT, "../.venv/bin/python");
  return existsSync(projectPython) ? projectPython : "python3";
}

await step("types", () => run(path.join(BIN, "tsc"), ["--noEmit", "-p", "."]));
await step("lint", () => run(path.join(BIN, "eslint"), ["--max-warnings", "0", "."]));
process.env.PYTHON = python();
await step("greenloop", () => run(process.env.PYTHON, ["-c", "import greenloop"]));
const vsix = await step("package", pack);
const ready = await step("VS Code and the tests", async () => {
  await vscode();
  await bundle();
  return true;
});
// Without these, every test would wait until it times out.
if (vsix && ready && !times.some((each) => /^greenloop .*FAILED/.test(each))) {
  await rm(path.join(OUT, "failed"), { recursive: true, force: true });
  const env = { GREENLOOP_VSIX: vsix, NODE_OPTIONS: "--enable-source-maps", GREENLOOP_TEST_STORIES: onlyStories ? "1" : "" };
  const names = { host: "tests in the extension host", user: "tests in Chromium", live: "the embedded model", interpreter: "the Python extension", install: "installing greenloop", activation: "activation time" };
  for (const kind of kinds) {
    const tests = () => run(process.execPath, [path.join(BUILD, `${kind}.js`)], env);
    await step(names[kind], async () => {
      if (!retriesFailures) return tests();
      try {
        return await tests();
      } catch (error) {
        console.error(`${error.message}; running them once more`);
        await tests();
        times.push(`unsteady: ${names[kind]} failed, and passed when run once more`);
      }
    });
  }
}
console.log(`\n${times.join("\n")}`);
if (failed > 0 && existsSync(path.join(OUT, "failed"))) console.log(`screenshots of failed tests: ${path.join(OUT, "failed")}`);
process.exitCode = failed > 0 ? 1 : 0;
