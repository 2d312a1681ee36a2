// The server's process: started without a shell, its chatter bounded, and gone when it has to be.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type * as vscode from "vscode";
import type { StreamInfo } from "vscode-languageclient/node";

import { Bounded, Lines } from "./output";

export class ServerProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly bounded: Bounded;
  private readonly errors: Lines;
  /** Settles when the process is gone; says how it ended. */
  readonly gone: Promise<string>;

  constructor(python: string, folder: string, log: vscode.LogOutputChannel) {
    // `-P`: the server must not take modules from the folder that it is started in.
    this.child = spawn(python, ["-P", "-m", "greenloop", "serve"], { cwd: folder, stdio: "pipe", windowsHide: true });
    this.bounded = new Bounded((line) => log.debug(`server: ${line}`));
    this.errors = new Lines(this.child.stderr, (line) => this.bounded.take(line));
    // A write into the pipe of a server that is gone: `gone` tells of it.
    this.child.stdin.on("error", () => undefined);
    this.gone = new Promise((resolve) => {
      this.child.once("error", (error) => resolve(error.message));
      this.child.once("close", (code, signal) => {
        this.bounded.close();
        resolve(signal === null ? `it ended with code ${code ?? "?"}` : `it was ended by ${signal}`);
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The last lines of its standard error. */
  get tail(): readonly string[] {
    return this.errors.tail;
  }

  streams(): Promise<StreamInfo> {
    return Promise.resolve({ reader: this.child.stdout, writer: this.child.stdin });
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }

  /** Waits until the process is gone, and ends it after `patience` milliseconds. */
  async end(patience: number): Promise<void> {
    const timer = setTimeout(() => this.kill(), patience);
    await this.gone;
    clearTimeout(timer);
  }
}
