// Reads and limits what processes print, so that a flood of it cannot fill the editor's log.

import type { Readable } from "node:stream";

const MAX_LINE = 2_000;
const WINDOW_MS = 10_000;
const MAX_PER_WINDOW = 64 * 1024;
const TAIL_LINES = 30;

/** Passes on at most 64 kB in ten seconds, and reports how much was skipped. */
export class OutputLimiter {
  private windowStart = 0;
  private written = 0;
  private skipped = 0;

  constructor(
    private readonly write: (line: string) => void,
    private readonly now: () => number = Date.now,
  ) {}

  add(line: string): void {
    const now = this.now();
    if (now - this.windowStart >= WINDOW_MS) {
      this.reportSkipped();
      this.windowStart = now;
      this.written = 0;
    }
    if (this.skipped > 0 || this.written + line.length > MAX_PER_WINDOW) {
      if (this.skipped === 0) {
        this.write("… too much output; the rest of these ten seconds is skipped");
      }
      this.skipped += line.length;
      return;
    }
    this.written += line.length;
    this.write(line);
  }

  /** Writes how much was skipped, if anything was. */
  reportSkipped(): void {
    if (this.skipped > 0) {
      this.write(`… ${this.skipped} characters were skipped`);
      this.skipped = 0;
    }
  }
}

/** Splits a stream into lines. Long lines are cut and never held in full; the last lines are kept in `tail`. */
export class LineReader {
  readonly tail: string[] = [];
  private partial = "";
  private isCut = false;

  constructor(stream: Readable, private readonly onLine: (line: string) => void) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.read(text));
    stream.on("end", () => this.endLine());
    // The process was killed: there is nothing more to read.
    stream.on("error", () => this.endLine());
  }

  private read(text: string): void {
    const pieces = text.split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.append(piece);
      this.endLine();
    }
    this.append(last);
  }

  private append(text: string): void {
    this.isCut ||= this.partial.length + text.length > MAX_LINE;
    this.partial = (this.partial + text.slice(0, MAX_LINE)).slice(0, MAX_LINE);
  }

  private endLine(): void {
    const line = this.partial.trimEnd() + (this.isCut ? " …" : "");
    this.partial = "";
    this.isCut = false;
    if (line !== "") {
      this.tail.push(line);
      this.tail.splice(0, this.tail.length - TAIL_LINES);
      this.onLine(line);
    }
  }
}
