// Runs a program to its end: no shell, cancellable with everything that it started, its lines told as they come.

import { spawn } from "node:child_process";
import type * as vscode from "vscode";

import { Lines } from "./output";

export interface Ran {
  /** 0, another code, or null where it was ended or could not be started. */
  code: number | null;
  tail: readonly string[];
}

export interface How {
  folder: string;
  env?: NodeJS.ProcessEnv;
  token: vscode.CancellationToken;
  line: (line: string) => void;
}

const going = new Set<() => void>();

/** Ends all that is running: they are groups of their own, which outlive this process. */
export function endAll(): void {
  going.forEach((end) => {
    end();
  });
}

export async function run(program: string, parameters: readonly string[], how: How): Promise<Ran> {
  const alone = process.platform !== "win32";
  const child = spawn(program, parameters, {
    cwd: how.folder,
    env: how.env ?? process.env,
    // A group of its own, which ends as one.
    detached: alone,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const end = (): void => {
    try {
      if (alone && child.pid !== undefined) {
        process.kill(-child.pid, "SIGKILL");
      } else {
        child.kill("SIGKILL");
      }
    } catch {
      // It is gone already.
    }
  };
  going.add(end);
  const tail: string[] = [];
  const take = (line: string): void => {
    tail.push(line);
    tail.splice(0, tail.length - 30);
    how.line(line);
  };
  new Lines(child.stdout, take);
  new Lines(child.stderr, take);
  const cancelled = how.token.onCancellationRequested(end);
  if (how.token.isCancellationRequested) {
    end();
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      take(error.message);
      resolve(null);
    });
    child.once("close", (status) => resolve(status));
  });
  going.delete(end);
  cancelled.dispose();
  return { code, tail };
}
