// What the server writes beside the protocol: bounded, so that no flood of it fills the editor's log.

import type { Readable } from "node:stream";

const LINE = 2_000;
const WINDOW = 10_000;
const BUDGET = 64 * 1024;
const TAIL = 30;

/** Passes on at most 64 kB in ten seconds, and says how much was left out. */
export class Bounded {
  private began = 0;
  private spent = 0;
  private left = 0;

  constructor(
    private readonly write: (line: string) => void,
    private readonly now: () => number = Date.now,
  ) {}

  take(line: string): void {
    const now = this.now();
    if (now - this.began >= WINDOW) {
      this.close();
      this.began = now;
      this.spent = 0;
    }
    if (this.left > 0 || this.spent + line.length > BUDGET) {
      if (this.left === 0) {
        this.write("… too much at once; the rest of these ten seconds is left out");
      }
      this.left += line.length;
      return;
    }
    this.spent += line.length;
    this.write(line);
  }

  /** Tells what was left out. */
  close(): void {
    if (this.left > 0) {
      this.write(`… ${this.left} characters were left out`);
      this.left = 0;
    }
  }
}

/** Reads lines of a stream; a line that never ends is cut, and never held whole. The last lines are kept. */
export class Lines {
  readonly tail: string[] = [];
  private rest = "";
  private cut = false;

  constructor(stream: Readable, private readonly take: (line: string) => void) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.add(text));
    stream.on("end", () => this.line());
    // The pipe of a process that was killed: nothing more to read.
    stream.on("error", () => this.line());
  }

  private add(text: string): void {
    const pieces = text.split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.grow(piece);
      this.line();
    }
    this.grow(last);
  }

  private grow(text: string): void {
    this.cut ||= this.rest.length + text.length > LINE;
    this.rest = (this.rest + text.slice(0, LINE)).slice(0, LINE);
  }

  private line(): void {
    const line = this.rest.trimEnd() + (this.cut ? " …" : "");
    this.rest = "";
    this.cut = false;
    if (line !== "") {
      this.tail.push(line);
      this.tail.splice(0, this.tail.length - TAIL);
      this.take(line);
    }
  }
}
