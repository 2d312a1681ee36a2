// Reads the process tree from /proc.

import * as fs from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  commandLine: string;
}

function listProcesses(): Process[] {
  const processes: Process[] = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The program's name is in parentheses and may contain anything.
      const state = fs.readFileSync(`/proc/${name}/stat`, "utf8").split(") ").pop() ?? "";
      const [letter = "", parent = "0"] = state.split(" ");
      if (letter === "Z") continue;
      const commandLine = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim();
      processes.push({ pid: Number(name), parent: Number(parent), commandLine });
    } catch {
      // It has exited meanwhile.
    }
  }
  return processes;
}

export function descendants(pid: number): Process[] {
  const running = listProcesses();
  const result: Process[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const next = running.filter((each) => parents.has(each.parent));
    result.push(...next);
    parents = new Set(next.map((each) => each.pid));
  }
  return result;
}

/** Language servers among the descendants of a process. */
export function languageServers(pid: number): Process[] {
  return descendants(pid).filter((each) => each.commandLine.includes("greenloop serve"));
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has exited; only its parent has not collected it yet.
    return !/\) Z /.test(fs.readFileSync(`/proc/${String(pid)}/stat`, "utf8"));
  } catch {
    return false;
  }
}
