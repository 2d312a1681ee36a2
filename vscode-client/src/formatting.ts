// Formats runs and attempts as one line of text, a tooltip or an icon.

import { MarkdownString, ThemeColor, ThemeIcon } from "vscode";

import type { Attempt, Run, Status } from "./protocol";

const PASSED_COLOR = "testing.iconPassed";
const FAILED_COLOR = "testing.iconFailed";
const WARNING_COLOR = "list.warningForeground";
/** Looks of one attempt that a tooltip lists. */
const MAX_LOOKS = 8;

const STATUS_ICONS: Readonly<Record<string, readonly [icon: string, color: string]>> = {
  passed: ["pass", PASSED_COLOR],
  failed: ["error", FAILED_COLOR],
  timeout: ["watch", FAILED_COLOR],
  crashed: ["flame", FAILED_COLOR],
  "not-collected": ["question", FAILED_COLOR],
  tampered: ["shield", WARNING_COLOR],
  environment: ["warning", WARNING_COLOR],
  refused: ["circle-slash", FAILED_COLOR],
} satisfies Record<Status, readonly [string, string]>;

const STATUS_TEXTS: Readonly<Record<string, string>> = {
  passed: "passed",
  failed: "failed",
  timeout: "timed out",
  crashed: "crashed",
  "not-collected": "could not be collected",
  tampered: "tampered with the tests",
  environment: "could not be run",
  refused: "rejected without running",
} satisfies Record<Status, string>;

export function attemptIcon(attempt: Attempt): ThemeIcon {
  const [icon, color] = STATUS_ICONS[attempt.status] ?? ["question", FAILED_COLOR];
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
    return run.offered ? new ThemeIcon("pass", new ThemeColor(WARNING_COLOR)) : new ThemeIcon("pass", new ThemeColor(PASSED_COLOR));
  }
  if (run.cancelled) {
    return new ThemeIcon("circle-slash");
  }
  // A run without attempts could not be carried out, which says nothing about the code.
  return modelAttempts(run).length > 0
    ? new ThemeIcon("error", new ThemeColor(FAILED_COLOR))
    : new ThemeIcon("warning", new ThemeColor(WARNING_COLOR));
}

/** `41 ms → 6 ms, 2/5, 3 looks, 1,234 tokens (900 cached), 4.2 s, $0.0012`; zero and unknown values are left out. */
export function formatRun(run: Run): string {
  const attempts = modelAttempts(run);
  const costs = attempts.map((attempt) => attempt.cost);
  const cost = costs.includes(null) ? null : costs.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const tokens = describeTokens(sumOf(attempts, (each) => each.tokens), sumOf(attempts, (each) => each.cachedTokens));
  const looks = describeLooks(sumOf(attempts, (each) => each.looks.length) + run.looks.length);
  const isOver = run.phase === "over";
  const progress = isOver && attempts.length > 0 ? "" : run.said;
  const count = run.limit > 0 && run.attempts.length > 0 ? `${attempts.length}/${run.limit}` : "";
  // The notification counts the seconds of an active run; here the number would not change.
  const gain = run.gain.split(" (")[0] ?? "";
  const line = joinWithCosts([progress, gain, count, looks], tokens, isOver ? run.seconds : 0, cost);
  return run.offered ? `${line}, not applied` : line;
}

/** `1/3 AssertionError, 3 looks, 1,204 tokens (900 cached), 2.1 s, $0.0003`. */
export function formatAttempt(attempt: Attempt): string {
  const verdict = attempt.total > 0 ? `${attempt.passed}/${attempt.total}` : "";
  // The message of an attempt that passes is what it gained, with the interval in brackets.
  const reason = attempt.errorClass || (attempt.status === "passed" ? (attempt.message.split(" (")[0] ?? "") : (STATUS_TEXTS[attempt.status] ?? attempt.status));
  const result = [verdict, reason].filter(Boolean).join(" ");
  const tokens = describeTokens(attempt.tokens, attempt.cachedTokens);
  return joinWithCosts([result, describeLooks(attempt.looks.length)], tokens, attempt.seconds, attempt.cost);
}

/** Everything known about an attempt, as lines of plain text. */
export function attemptTooltip(attempt: Attempt): string {
  const heading = attempt.attempt === 0 ? "Your code, unchanged" : `Attempt ${attempt.attempt} by ${attempt.model}`;
  const parent = attempt.parent === null || attempt.parent === 0 ? "" : `, based on attempt ${attempt.parent}`;
  const verdict = `${STATUS_TEXTS[attempt.status] ?? attempt.status}, ${attempt.passed} of ${attempt.total} tests pass`;
  return [heading + parent, verdict, attempt.errorClass, attempt.message, ...listLooks(attempt.looks)].filter(Boolean).join("\n");
}

/** Target, state, model, and what to look at in the result; with the costs of lines, which need a fixed width. */
export function runTooltip(run: Run): string | MarkdownString {
  const notes = run.notes.map((note) => `Note: ${note}`);
  const text = [run.target, run.said, modelName(run), ...notes].filter(Boolean).join("\n");
  return run.heat === "" ? text : new MarkdownString().appendText(text).appendCodeblock(run.heat, "text");
}

/** `openai/gpt-5.1 (capable)`; empty until the model is known. */
export function modelName(run: Run): string {
  return run.kind === "" ? run.model : `${run.model} (${run.kind})`;
}

export function attemptName(attempt: number): string {
  return attempt === 0 ? "your code" : `attempt ${attempt}`;
}

/** The model's attempts, without attempt 0, the user's own code. */
export function modelAttempts(run: Run): readonly Attempt[] {
  return run.attempts.filter((attempt) => attempt.attempt > 0);
}

/** The first looks of an attempt, a line each. */
function listLooks(looks: readonly string[]): string[] {
  const rest = looks.length - MAX_LOOKS;
  return [...looks.slice(0, MAX_LOOKS).map((look) => `looked: ${look}`), rest > 0 ? `… and ${rest} more` : ""];
}

function describeLooks(count: number): string {
  return count === 0 ? "" : count === 1 ? "1 look" : `${count} looks`;
}

function describeTokens(tokens: number, cached: number): string {
  const read = cached > 0 ? ` (${cached.toLocaleString("en-US")} cached)` : "";
  return tokens > 0 ? `${tokens.toLocaleString("en-US")} tokens${read}` : "";
}

function sumOf(attempts: readonly Attempt[], value: (attempt: Attempt) => number): number {
  return attempts.reduce((sum, attempt) => sum + value(attempt), 0);
}

function joinWithCosts(parts: string[], tokens: string, seconds: number, cost: number | null): string {
  return [
    ...parts,
    tokens,
    seconds > 0 ? `${seconds.toFixed(1)} s` : "",
    cost !== null && cost > 0 ? `$${cost.toFixed(4)}` : "",
  ].filter(Boolean).join(", ");
}
