// Starts the server's process without a shell, limits what it logs, and makes sure that it exits.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type * as vscode from "vscode";
import type { StreamInfo } from "vscode-languageclient/node";

import { LineReader, OutputLimiter } from "./processOutput";

export class ServerProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly stderrLimiter: OutputLimiter;
  private readonly stderr: LineReader;
  /** Resolves when the process has exited, with a description of how. */
  readonly exited: Promise<string>;

  constructor(python: string, folder: string, log: vscode.LogOutputChannel) {
    // `-P`: modules are not imported from the folder in which the server starts.
    this.child = spawn(python, ["-P", "-m", "greenloop", "serve"], { cwd: folder, stdio: "pipe", windowsHide: true });
    this.stderrLimiter = new OutputLimiter((line) => log.debug(`server: ${line}`));
    this.stderr = new LineReader(this.child.stderr, (line) => this.stderrLimiter.add(line));
    // Ignores writes to a server that has exited, which `exited` reports.
    this.child.stdin.on("error", () => undefined);
    this.exited = new Promise((resolve) => {
      this.child.once("error", (error) => resolve(error.message));
      this.child.once("close", (code, signal) => {
        this.stderrLimiter.reportSkipped();
        resolve(signal === null ? `it exited with code ${code ?? "?"}` : `it was killed by ${signal}`);
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The last lines of standard error. */
  get tail(): readonly string[] {
    return this.stderr.tail;
  }

  streams(): Promise<StreamInfo> {
    return Promise.resolve({ reader: this.child.stdout, writer: this.child.stdin });
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }

  /** Waits for the process to exit; kills it after `timeout` milliseconds. */
  async waitForExit(timeout: number): Promise<void> {
    const timer = setTimeout(() => this.kill(), timeout);
    await this.exited;
    clearTimeout(timer);
  }
}
