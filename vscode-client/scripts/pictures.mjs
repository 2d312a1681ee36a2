// Copies the pictures of the last test run to media/, where the README shows them.

import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const pictures = path.join(ROOT, ".vscode-test/pictures");

const names = await readdir(pictures).catch(() => []);
for (const name of names) await cp(path.join(pictures, name), path.join(ROOT, "media", name));
console.log(names.length > 0 ? names.join("\n") : "There are no pictures yet; run: npm test user");
