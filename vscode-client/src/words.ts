// How runs and attempts are told in a line, and by which icon.

import { ThemeColor, ThemeIcon } from "vscode";

import type { Attempt, Run, Status } from "./protocol";

const PASSED = "testing.iconPassed";
const FAILED = "testing.iconFailed";
const WARNED = "list.warningForeground";

const VERDICTS: Readonly<Record<string, readonly [icon: string, color: string]>> = {
  passed: ["pass", PASSED],
  failed: ["error", FAILED],
  timeout: ["watch", FAILED],
  crashed: ["flame", FAILED],
  "not-collected": ["question", FAILED],
  tampered: ["shield", WARNED],
  environment: ["warning", WARNED],
  refused: ["circle-slash", FAILED],
} satisfies Record<Status, readonly [string, string]>;

const STATUS: Readonly<Record<string, string>> = {
  passed: "passed",
  failed: "failed",
  timeout: "timed out",
  crashed: "crashed",
  "not-collected": "could not be collected",
  tampered: "tampered with the tests",
  environment: "could not be run",
  refused: "refused before it ran",
} satisfies Record<Status, string>;

export function verdictIcon(attempt: Attempt): ThemeIcon {
  const [icon, color] = VERDICTS[attempt.status] ?? ["question", FAILED];
  return new ThemeIcon(icon, new ThemeColor(color));
}

export function runIcon(run: Run): ThemeIcon {
  if (run.phase === "queued") {
    return new ThemeIcon("clock");
  }
  if (run.phase !== "over") {
    return new ThemeIcon("loading~spin");
  }
  if (run.solved) {
    return run.offered ? new ThemeIcon("pass", new ThemeColor(WARNED)) : new ThemeIcon("pass", new ThemeColor(PASSED));
  }
  if (run.cancelled) {
    return new ThemeIcon("circle-slash");
  }
  // A run without any attempt could not be made: that is no verdict on the code.
  return drafts(run).length > 0
    ? new ThemeIcon("error", new ThemeColor(FAILED))
    : new ThemeIcon("warning", new ThemeColor(WARNED));
}

/** `2/5, 1,234 tokens, 4.2 s, $0.0012`; what is nothing or not known is left out. */
export function runLine(run: Run): string {
  const tried = drafts(run);
  const costs = tried.map((attempt) => attempt.cost);
  const cost = costs.includes(null) ? null : costs.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const tokens = tried.reduce((sum, attempt) => sum + attempt.tokens, 0);
  const isOver = run.phase === "over";
  const said = isOver && tried.length > 0 ? "" : run.said;
  const count = run.limit > 0 && run.attempts.length > 0 ? `${tried.length}/${run.limit}` : "";
  // The seconds of a run that goes on are told by its notification: here they would stand still.
  const line = spent([said, count], tokens, isOver ? run.seconds : 0, cost);
  return run.offered ? `${line}, not applied` : line;
}

/** `1/3 AssertionError, 1,204 tokens, 2.1 s, $0.0003`. */
export function attemptLine(attempt: Attempt): string {
  const verdict = attempt.total > 0 ? `${attempt.passed}/${attempt.total}` : "";
  const why = attempt.errorClass || (attempt.status === "passed" ? "" : (STATUS[attempt.status] ?? attempt.status));
  return spent([[verdict, why].filter(Boolean).join(" ")], attempt.tokens, attempt.seconds, attempt.cost);
}

/** Everything that is known of an attempt, in lines of plain text. */
export function attemptTooltip(attempt: Attempt): string {
  const heading = attempt.attempt === 0 ? "Your code as it was" : `Attempt ${attempt.attempt} by ${attempt.model}`;
  const from = attempt.parent === null || attempt.parent === 0 ? "" : `, from attempt ${attempt.parent}`;
  const verdict = `${STATUS[attempt.status] ?? attempt.status}, ${attempt.passed} of ${attempt.total} tests pass`;
  return [heading + from, verdict, attempt.errorClass, attempt.message].filter(Boolean).join("\n");
}

export function runTooltip(run: Run): string {
  return [run.target, run.said].filter(Boolean).join("\n");
}

export function attemptName(attempt: number): string {
  return attempt === 0 ? "your code" : `attempt ${attempt}`;
}

/** The attempts that a model made. */
export function drafts(run: Run): readonly Attempt[] {
  return run.attempts.filter((attempt) => attempt.attempt > 0);
}

function spent(before: string[], tokens: number, seconds: number, cost: number | null): string {
  return [
    ...before,
    tokens > 0 ? `${tokens.toLocaleString("en-US")} tokens` : "",
    seconds > 0 ? `${seconds.toFixed(1)} s` : "",
    cost !== null && cost > 0 ? `$${cost.toFixed(4)}` : "",
  ].filter(Boolean).join(", ");
}
