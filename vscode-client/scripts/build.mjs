// Bundles the extension into dist/: extension.js, and client.js, which is loaded with the first server.

import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLIENT = "vscode-languageclient/node";

/**
 * The language client is nine tenths of everything, and nobody needs it before the server starts: it is a file of its
 * own that is read where something of it is used first, which keeps it out of the activation.
 */
const lazy = {
  name: "lazy-client",
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${CLIENT}$`) }, () => ({ path: CLIENT, namespace: "lazy" }));
    builder.onResolve({ filter: /^\.\/client\.js$/, namespace: "lazy" }, () => ({ path: "./client.js", external: true }));
    builder.onLoad({ filter: /./, namespace: "lazy" }, () => ({
      // esbuild gives the importing modules an object with this prototype, and asks for `__esModule` at once.
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
