// Copies pictures of the last `GREENLOOP_PICTURES=1 npm test user` to media/: those that the README or the walkthrough shows.

import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const texts = await Promise.all(["README.md", "package.json"].map((name) => readFile(path.join(ROOT, name), "utf8")));
const names = new Set(texts.join().match(/(?<=media\/)[\w-]+-(light|dark)\.png/g));
for (const name of names) await cp(path.join(ROOT, ".vscode-test/pictures", name), path.join(ROOT, "media", name));
console.log([...names].join("\n"));
