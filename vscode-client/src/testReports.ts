// Writes results and attempts into a run of the Test Results view.

import * as vscode from "vscode";

import { attemptName, formatAttempt } from "./formatting";
import type { Attempt, Explanation, Place, Run, TestResult } from "./protocol";

export function reportResult(testRun: vscode.TestRun, item: vscode.TestItem, result: TestResult): void {
  const milliseconds = result.seconds * 1000;
  switch (result.outcome) {
    case "passed":
    case "xpassed":
      testRun.passed(item, milliseconds);
      return;
    case "failed":
    case "error": {
      writeOutput(testRun, `${result.test}\n${result.text ?? ""}\n`, item);
      const message = createMessage(result.message ?? result.outcome, result.at);
      if (result.expected !== undefined && result.observed !== undefined) {
        message.expectedOutput = result.expected;
        message.actualOutput = result.observed;
      }
      testRun[result.outcome === "failed" ? "failed" : "errored"](item, message, milliseconds);
      return;
    }
    default:
      testRun.skipped(item);
  }
}

/** Reports an attempt that was tested: its numbers, and its error at the line that failed. */
export function reportAttempt(testRun: vscode.TestRun, item: vscode.TestItem, attempt: Attempt): void {
  writeOutput(testRun, `${attemptName(attempt.attempt)}: ${formatAttempt(attempt)}\n`, item);
  if (attempt.status === "passed") {
    testRun.passed(item);
  } else {
    const error = [attempt.errorClass, attempt.message].filter((part) => part !== "").join(": ");
    testRun.failed(item, createMessage(`${attemptName(attempt.attempt)}: ${error || attempt.status}`, attempt.at));
  }
}

/** Reports the end of a refinement. */
export function reportEnd(testRun: vscode.TestRun, item: vscode.TestItem, run: Run): void {
  writeOutput(testRun, `${run.name}: ${run.said}\n`, item);
  if (run.solved) {
    testRun.passed(item, run.seconds * 1000);
  } else if (run.cancelled) {
    testRun.skipped(item);
  } else if (run.attempts.length === 0) {
    testRun.errored(item, createMessage(run.said));
  } else {
    testRun.failed(item, [], run.seconds * 1000);
  }
}

/** Reports where a test fails, and the lines that are most likely at fault. */
export function reportExplanation(testRun: vscode.TestRun, item: vscode.TestItem, { text, passes, lines = [] }: Explanation): void {
  writeOutput(testRun, `${text}\n`, item);
  if (passes === true) {
    testRun.passed(item);
  } else {
    const suspects = lines.map(({ suspicion, ...at }) => createMessage(`suspicion ${suspicion.toFixed(2)} of 1`, at));
    testRun.failed(item, [createMessage(text), ...suspects]);
  }
}

export function createMessage(text: string, at?: Place | null): vscode.TestMessage {
  const message = new vscode.TestMessage(text);
  if (at) {
    message.location = new vscode.Location(vscode.Uri.parse(at.uri), new vscode.Position(at.line, 0));
  }
  return message;
}

/** The Test Results view is a terminal, which wants both characters of a line's end. */
export function writeOutput(testRun: vscode.TestRun, text: string, item?: vscode.TestItem): void {
  testRun.appendOutput(text.replace(/\r?\n/g, "\r\n"), undefined, item);
}
