// Bundles the extension into dist/: extension.js, and client.js, which is loaded when the first server starts.

import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLIENT = "vscode-languageclient/node";

/**
 * The language client is nine tenths of the code and not needed before the server starts, so it is bundled into a file
 * of its own, which is read on first use and does not slow down the activation.
 */
const lazy = {
  name: "lazy-client",
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${CLIENT}$`) }, () => ({ path: CLIENT, namespace: "lazy" }));
    builder.onResolve({ filter: /^\.\/client\.js$/, namespace: "lazy" }, () => ({ path: "./client.js", external: true }));
    builder.onLoad({ filter: /./, namespace: "lazy" }, () => ({
      // esbuild creates an object with this prototype in the importing modules, and reads `__esModule` at once.
      contents: `const get = (_, name) => name === "__esModule" || require("./client.js")[name];
        module.exports = Object.create(new Proxy({}, { get }));`,
    }));
  },
};

const common = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  sourcemap: false,
  legalComments: "eof",
};
await rm(path.join(ROOT, "dist"), { recursive: true, force: true });
await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", plugins: [lazy] });
const client = { contents: `module.exports = require("${CLIENT}");`, resolveDir: ROOT };
await build({ ...common, stdin: client, outfile: "dist/client.js" });
