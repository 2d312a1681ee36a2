// Reads the sample project of the extension.

import * as fs from "node:fs";
import * as path from "node:path";

import { ROOT } from "./paths";

export function sampleFiles(): Record<string, string> {
  const folder = path.join(ROOT, "sample");
  const names = fs.readdirSync(folder).filter((name) => /\.(py|md)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]));
}
