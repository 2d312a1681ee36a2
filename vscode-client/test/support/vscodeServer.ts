// A real VS Code with a profile of its own: installs the packaged extension, then starts the web server.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

import { makeTempFolder, PYTHON, VSCODE, VSIX, writeFiles } from "./paths";
import { descendants, isAlive, type Process } from "./processes";
import { until } from "./until";

const USER_SETTINGS = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": false,
  "remote.autoForwardPorts": false,
  "git.enabled": false,
  "editor.minimap.enabled": false,
  "editor.scrollBeyondLastLine": false,
  "editor.occurrencesHighlight": "off",
  "editor.stickyScroll.enabled": false,
  "workbench.layoutControl.enabled": false,
  "editor.inlineSuggest.enabled": false,
  "editor.accessibilitySupport": "off",
  "files.simpleDialog.enable": true,
  "files.autoSave": "off",
};

export interface Setup {
  /** Machine settings: model, interpreter and sandbox may only be set there. */
  machine?: Record<string, unknown>;
  user?: Record<string, unknown>;
  environment?: Record<string, string>;
  /** Additional command-line options. */
  options?: string[];
  /** The files of the project. */
  files?: Record<string, string>;
}

export class CodeServer {
  readonly folder = makeTempFolder("code");
  readonly project = path.join(this.folder, "sample");
  /** The scripted model's file. */
  readonly script = path.join(this.folder, "model");
  readonly log = path.join(this.folder, "server.log");
  private child: ChildProcess | undefined;
  url = "";

  constructor(setup: Setup) {
    this.extraOptions = setup.options ?? [];
    const bare = path.join(this.folder, "bare");
    // An interpreter without packages: greenloop provides its own pytest.
    requireSuccess(spawnSync(PYTHON, ["-m", "venv", "--without-pip", bare], { encoding: "utf8" }));
    const machine = {
      "greenloop.python": PYTHON,
      "greenloop.model": `scripted:${this.script}`,
      "greenloop.preset": "plain",
      "greenloop.interpreter": path.join(bare, "bin/python"),
      "greenloop.sandbox.kind": "bubblewrap",
      ...setup.machine,
    };
    writeFiles(this.folder, {
      "data/User/settings.json": JSON.stringify({ ...USER_SETTINGS, ...setup.user }),
      // In a browser's window, settings with machine scope are read from here.
      "data/Machine/settings.json": JSON.stringify(machine),
      "model": "",
    });
    writeFiles(this.project, { "pyproject.toml": "", ...setup.files });
    fs.mkdirSync(path.join(this.folder, "home"));
    this.environment = {
      ...process.env,
      HOME: path.join(this.folder, "home"),
      // The sandbox's self-test and the model's weights are shared with the machine.
      XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
      XDG_STATE_HOME: path.join(this.folder, "home/state"),
      XDG_CONFIG_HOME: path.join(this.folder, "home/config"),
      XDG_DATA_HOME: path.join(this.folder, "home/data"),
      EXTENSIONS_GALLERY: '{"serviceUrl":""}',
      GREENLOOP_TEST_SCRIPT: this.script,
      ...setup.environment,
    };
  }

  private readonly extraOptions: string[];
  readonly environment: NodeJS.ProcessEnv;

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error("VS Code does not run");
    return this.child.pid;
  }

  /** Starts the server, which prints the address at which it listens. */
  async start(): Promise<void> {
    const options = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"];
    const folders = { "server-data-dir": "server", "user-data-dir": "data", "extensions-dir": "extensions" };
    const folderOptions = Object.entries(folders).flatMap(([key, name]) => [`--${key}`, path.join(this.folder, name)]);
    const rest = ["--telemetry-level", "off", "--disable-workspace-trust", ...this.extraOptions];
    const install = ["--start-server", "--install-extension", VSIX];
    const program = path.join(VSCODE, "app/lib/vscode/out/server-main.js");
    const args = [program, ...options, ...folderOptions, ...rest, ...install];
    const logFile = fs.openSync(this.log, "w");
    // A process group of its own, so that it can be stopped as a whole.
    const child = spawn(path.join(VSCODE, "node/bin/node"), args, {
      env: this.environment,
      stdio: ["ignore", "pipe", logFile],
      detached: true,
    });
    fs.closeSync(logFile);
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let output = "";
      const timer = setTimeout(() => { reject(new Error(`VS Code does not start: ${output}`)); }, 60_000);
      child.stdout?.on("data", (data: Buffer) => {
        fs.appendFileSync(this.log, data);
        output += data.toString();
        const url = /available at (http:\/\/\S+)/.exec(output)?.[1];
        if (url !== undefined) { clearTimeout(timer); resolve(url.replace("localhost", "127.0.0.1")); }
      });
      child.once("exit", (code) => { reject(new Error(`VS Code ended with ${String(code)}: ${output}`)); });
    });
  }

  /** The address of a window that shows the project. */
  window(payload: [string, string][] = []): string {
    const suffix = payload.length > 0 ? `&payload=${encodeURIComponent(JSON.stringify(payload))}` : "";
    return `${this.url}/?folder=${encodeURIComponent(this.project)}${suffix}`;
  }

  read(name: string): string {
    return fs.readFileSync(path.join(this.project, name), "utf8");
  }

  prepare(answers: string, files: Record<string, string> = {}): void {
    fs.writeFileSync(this.script, answers);
    writeFiles(this.project, files);
  }

  /** Stops VS Code; fails if any of its processes keeps running. */
  async stop(): Promise<void> {
    const child = this.child;
    if (child?.pid !== undefined && child.exitCode === null) {
      const started = descendants(child.pid);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      process.kill(-child.pid, "SIGTERM");
      const timer = setTimeout(() => { if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL"); }, 10_000);
      await ended;
      // Remaining output would be written into a folder that may no longer exist.
      child.stdout?.destroy();
      clearTimeout(timer);
      const remaining = (): Process[] => started.filter((each) => isAlive(each.pid));
      await until("end of all that VS Code started", () => remaining().length === 0, remaining);
    }
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function requireSuccess(result: { status: number | null; stderr: string }): void {
  if (result.status !== 0) throw new Error(result.stderr);
}
