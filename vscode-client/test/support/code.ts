// A real VS Code with a profile of its own: the packaged extension is installed, then its web server is started.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

import { alive, beneath, type Process } from "./processes";
import { folder, PYTHON, VSCODE, VSIX, write } from "./places";
import { until } from "./until";

const USER = {
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
  /** Of the machine: where model, interpreter and sandbox may be set. */
  machine?: Record<string, unknown>;
  user?: Record<string, unknown>;
  environment?: Record<string, string>;
  /** What more the server is started with. */
  options?: string[];
  /** The project. */
  files?: Record<string, string>;
}

export class Code {
  readonly base = folder("code");
  readonly project = path.join(this.base, "sample");
  /** The scripted model's file. */
  readonly script = path.join(this.base, "model");
  readonly log = path.join(this.base, "server.log");
  private child: ChildProcess | undefined;
  url = "";

  constructor(setup: Setup) {
    this.more = setup.options ?? [];
    const bare = path.join(this.base, "bare");
    // An interpreter without packages: greenloop lends it its own pytest.
    check(spawnSync(PYTHON, ["-m", "venv", "--without-pip", bare], { encoding: "utf8" }));
    const machine = {
      "greenloop.python": PYTHON,
      "greenloop.model": `scripted:${this.script}`,
      "greenloop.preset": "plain",
      "greenloop.interpreter": path.join(bare, "bin/python"),
      "greenloop.sandbox.kind": "bubblewrap",
      ...setup.machine,
    };
    write(this.base, {
      "data/User/settings.json": JSON.stringify({ ...USER, ...setup.user }),
      // What is scoped to the machine is read from here where the window is a browser.
      "data/Machine/settings.json": JSON.stringify(machine),
      "model": "",
    });
    write(this.project, { "pyproject.toml": "", ...setup.files });
    fs.mkdirSync(path.join(this.base, "home"));
    this.environment = {
      ...process.env,
      HOME: path.join(this.base, "home"),
      // The sandbox's self-test and the model's weights are the machine's.
      XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
      XDG_STATE_HOME: path.join(this.base, "home/state"),
      XDG_CONFIG_HOME: path.join(this.base, "home/config"),
      XDG_DATA_HOME: path.join(this.base, "home/data"),
      EXTENSIONS_GALLERY: '{"serviceUrl":""}',
      GREENLOOP_TEST_SCRIPT: this.script,
      ...setup.environment,
    };
  }

  private readonly more: string[];
  readonly environment: NodeJS.ProcessEnv;

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error("VS Code does not run");
    return this.child.pid;
  }

  /** Starts the server; it says by itself where it listens. */
  async start(): Promise<void> {
    const options = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"];
    const own = { "server-data-dir": "server", "user-data-dir": "data", "extensions-dir": "extensions" };
    const places = Object.entries(own).flatMap(([key, name]) => [`--${key}`, path.join(this.base, name)]);
    const rest = ["--telemetry-level", "off", "--disable-workspace-trust", ...this.more];
    const install = ["--start-server", "--install-extension", VSIX];
    const program = path.join(VSCODE, "app/lib/vscode/out/server-main.js");
    const words = [program, ...options, ...places, ...rest, ...install];
    const out = fs.openSync(this.log, "w");
    // A group of its own, so that its end is the end of all that it started.
    const child = spawn(path.join(VSCODE, "node/bin/node"), words, {
      env: this.environment,
      stdio: ["ignore", "pipe", out],
      detached: true,
    });
    fs.closeSync(out);
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = "";
      const late = setTimeout(() => { reject(new Error(`VS Code does not start: ${said}`)); }, 60_000);
      child.stdout?.on("data", (data: Buffer) => {
        fs.appendFileSync(this.log, data);
        said += data.toString();
        const found = /available at (http:\/\/\S+)/.exec(said)?.[1];
        if (found !== undefined) { clearTimeout(late); resolve(found.replace("localhost", "127.0.0.1")); }
      });
      child.once("exit", (code) => { reject(new Error(`VS Code ended with ${String(code)}: ${said}`)); });
    });
  }

  /** The address of a window on the project. */
  window(payload: [string, string][] = []): string {
    const more = payload.length > 0 ? `&payload=${encodeURIComponent(JSON.stringify(payload))}` : "";
    return `${this.url}/?folder=${encodeURIComponent(this.project)}${more}`;
  }

  read(name: string): string {
    return fs.readFileSync(path.join(this.project, name), "utf8");
  }

  put(answers: string, files: Record<string, string> = {}): void {
    fs.writeFileSync(this.script, answers);
    write(this.project, files);
  }

  /** Ends VS Code; fails where it leaves a process. */
  async stop(): Promise<void> {
    const child = this.child;
    if (child?.pid !== undefined && child.exitCode === null) {
      const family = beneath(child.pid);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      process.kill(-child.pid, "SIGTERM");
      const late = setTimeout(() => { if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL"); }, 10_000);
      await ended;
      // What is still in the pipe would be written into a folder that may be gone.
      child.stdout?.destroy();
      clearTimeout(late);
      const left = (): Process[] => family.filter((each) => alive(each.pid));
      await until("end of all that VS Code started", () => left().length === 0, left);
    }
  }

  remove(): void {
    fs.rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }
}

function check(done: { status: number | null; stderr: string }): void {
  if (done.status !== 0) throw new Error(done.stderr);
}
