// What runs beneath a process, as the kernel tells it.

import * as fs from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  words: string;
}

function all(): Process[] {
  const found: Process[] = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program is in brackets and may hold anything.
      const state = fs.readFileSync(`/proc/${name}/stat`, "utf8").split(") ").pop() ?? "";
      const [letter = "", parent = "0"] = state.split(" ");
      if (letter === "Z") continue;
      const words = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim();
      found.push({ pid: Number(name), parent: Number(parent), words });
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

export function beneath(pid: number): Process[] {
  const list = all();
  const found: Process[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const next = list.filter((each) => parents.has(each.parent));
    found.push(...next);
    parents = new Set(next.map((each) => each.pid));
  }
  return found;
}

/** The language servers that were started beneath a process. */
export function servers(pid: number): Process[] {
  return beneath(pid).filter((each) => each.words.includes("greenloop serve"));
}

export function alive(pid: number): boolean {
  try {
    // A zombie has ended: only its parent has not asked for it.
    return !/\) Z /.test(fs.readFileSync(`/proc/${String(pid)}/stat`, "utf8"));
  } catch {
    return false;
  }
}
