// Stands in for the Python extension: the file $HOME/chosen names the interpreter, and its changes are reported.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = () => {
  const file = path.join(process.env.HOME, "chosen");
  const chosen = () => ({ id: "chosen", path: fs.readFileSync(file, "utf8").trim() });
  const changed = new vscode.EventEmitter();
  fs.watchFile(file, { interval: 50 }, () => changed.fire(chosen()));
  return {
    environments: {
      getActiveEnvironmentPath: chosen,
      resolveEnvironment: (environment) => Promise.resolve({ executable: { uri: vscode.Uri.file(environment.path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
