// Runs a program to its end, without a shell; it can be cancelled together with everything that it started.

import { spawn } from "node:child_process";
import type * as vscode from "vscode";

import { LineReader } from "./processOutput";

export interface ProcessResult {
  /** The exit code; null if the process was killed or could not be started. */
  code: number | null;
  tail: readonly string[];
}

export interface ProcessOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  token: vscode.CancellationToken;
  onLine: (line: string) => void;
}

const killers = new Set<() => void>();

/** Kills every running program. Each has a process group of its own, which would outlive the extension host. */
export function killAll(): void {
  killers.forEach((kill) => {
    kill();
  });
}

export async function runProcess(program: string, args: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  const hasOwnGroup = process.platform !== "win32";
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    // A process group of its own, so that it can be killed as a whole.
    detached: hasOwnGroup,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const kill = (): void => {
    try {
      if (hasOwnGroup && child.pid !== undefined) {
        process.kill(-child.pid, "SIGKILL");
      } else {
        child.kill("SIGKILL");
      }
    } catch {
      // It has exited already.
    }
  };
  killers.add(kill);
  const tail: string[] = [];
  const onLine = (line: string): void => {
    tail.push(line);
    tail.splice(0, tail.length - 30);
    options.onLine(line);
  };
  new LineReader(child.stdout, onLine);
  new LineReader(child.stderr, onLine);
  const cancellation = options.token.onCancellationRequested(kill);
  if (options.token.isCancellationRequested) {
    kill();
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      onLine(error.message);
      resolve(null);
    });
    child.once("close", (status) => resolve(status));
  });
  killers.delete(kill);
  cancellation.dispose();
  return { code, tail };
}
