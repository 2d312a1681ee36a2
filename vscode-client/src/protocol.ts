// greenloop's own messages, described in docs/protocol.md; a Python test compares the names with the server's.

export const METHODS = {
  /** Client to server: starts a run; answered when the run is over. */
  refine: "greenloop/refine",
  /** Client to server: do the tests of the last commit honestly pass with the files on disk? */
  verify: "greenloop/verify",
  /** Client to server: where a test fails, and what is most likely at fault. */
  explain: "greenloop/explain",
  /** Server to client, notification: all runs that the server knows, sent whenever one changes. */
  runs: "greenloop/runs",
  /** Client to server: the files as an attempt would leave them. */
  attempt: "greenloop/attempt",
  /** Client to server: the attempts of a run as Markdown. */
  report: "greenloop/report",
  /** Client to server: the models and presets to choose from. */
  choices: "greenloop/choices",
  /** Server to client, notification: why a request was refused, and the remedy. */
  refused: "greenloop/refused",
  /** Server to client, notification: a result waits for `greenloop.apply` or `greenloop.discard`. */
  review: "greenloop/review",
  /** Server to client: asks the editor's own language model for an answer. */
  complete: "greenloop/complete",
  /** Client to server, notification: a piece of that answer. */
  completing: "greenloop/completing",
  /** Server to client: asks which abilities the editor's own language model has. */
  modelInfo: "greenloop/modelInfo",
  /** Server to client: asks for a provider's API key, which the client stores. */
  key: "greenloop/key",
  /** Client to server: the test files of all folders, or the tests of one file. */
  tests: "greenloop/tests",
  /** Client to server: runs some tests; answered when they have ended. */
  runTests: "greenloop/runTests",
  /** Server to client, notification: results of tests, whoever ran them. */
  testResults: "greenloop/testResults",
  /** Client to server: the changed lines of an applied result. */
  changes: "greenloop/changes",
} as const;

/** What this client supports beyond LSP: `capabilities.experimental.greenloop`. */
export const ABILITIES = { runs: true, refusals: true, review: true, model: true, modelInfo: true, keys: true, tests: true } as const;

/** A document and a target in it: `target` is a test id or `path::name`. */
export interface TargetRef {
  uri: string;
  target: string;
}

/** A line of a document, counted from 0. */
export interface Place {
  uri: string;
  line: number;
}

export type Status =
  | "passed" | "failed" | "timeout" | "crashed" | "not-collected" | "tampered" | "environment" | "refused";

/**
 * One attempt; number 0 is the user's own code. `cost` is in US dollars, null if unknown.
 * `looks` are those of the model before its answer; `cachedTokens` of the tokens were not read again.
 */
export interface Attempt {
  attempt: number;
  parent: number | null;
  model: string;
  status: Status;
  passed: number;
  total: number;
  errorClass: string;
  message: string;
  /** Where it failed, in a file that the attempt leaves as it is. */
  at: Place | null;
  looks: string[];
  tokens: number;
  cachedTokens: number;
  seconds: number;
  cost: number | null;
}

/**
 * One run. `said` is its state in a few words, `limit` the maximum number of attempts.
 * `model` and its `kind` are empty until they are known; `looks` are those of the attempt that is not complete yet.
 * `notes` say what to look at in the change of a solved run.
 * `result` is the attempt that `greenloop.apply` applies or has applied; null if there is none.
 */
export interface Run extends TargetRef {
  name: string;
  phase: "queued" | "refining" | "settling" | "landing" | "over";
  said: string;
  model: string;
  kind: "small" | "capable" | "";
  looks: string[];
  limit: number;
  seconds: number;
  solved: boolean;
  offered: boolean;
  applied: boolean;
  cancelled: boolean;
  result: number | null;
  /** What was measured for a goal, in words, and the costs of lines as rows of text; "" without. */
  gain: string;
  heat: string;
  notes: string[];
  /** Related tests that failed before and pass with the result. */
  alsoFixed: string[];
  attempts: Attempt[];
}

/** The reply to a refinement; `reason` is a word or, if it could not start, a sentence. `gain` is in words. */
export interface RefineReply {
  solved: boolean;
  verified: "verified" | "partially" | "unverified";
  reason: string;
  attempts: number;
  applied: boolean;
  gain: string;
}

/** A text of at most about 400 tokens; `verified` is missing where nothing was verified. */
export interface ShortAnswer {
  text: string;
  verified?: boolean;
}

/** `lines` are the most suspicious ones, with a suspicion from 0 to 1. */
export interface Explanation extends ShortAnswer {
  passes?: boolean;
  lines?: (Place & { suspicion: number })[];
}

export interface RunsParams {
  runs: Run[];
}

export interface AttemptParams extends TargetRef {
  attempt: number;
}

/** The full text of each file that the attempt changes, merged into the user's current text. */
export interface AttemptFiles {
  files: { uri: string; text: string }[];
}

export interface Report {
  markdown: string;
}

/** `needs` says what is missing: "pull" or "install" for the embedded model. */
export interface Choice {
  name: string;
  about: string;
  needs?: string;
}

/** What the function at the requested position may become; `comment` is a comment in it that asks for something. */
export interface GoalChoice {
  goal: "time" | "memory" | "limits" | "comment";
  said: string;
  comment: string;
}

/** `model` and `preset` are the values of the settings; "" means automatic, and `hasModel` that there is one for that. */
export interface Choices {
  models: Choice[];
  presets: Choice[];
  goals: GoalChoice[];
  model: string;
  preset: string;
  hasModel: boolean;
}

/** `reason` is one of the reasons of `finished`; `target` is missing if the refusal concerns no target. */
export interface RefusedParams {
  uri: string;
  target?: string;
  reason: string;
  message: string;
  remedy: string;
}

export interface ReviewParams extends TargetRef {
  attempt: number;
}

/** A call that a model makes of a tool; `arguments` is JSON text. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** `toolCalls` are those of an assistant's message; `toolCallId` is the call whose result a tool's message is. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  toolCalls?: ToolCall[];
  toolCallId?: string;
}

/** A function that a model may call; `parameters` is the JSON Schema of its arguments. */
export interface Tool {
  name: string;
  description: string;
  parameters: object;
}

/** `id` identifies the answer in `completing`. */
export interface CompleteParams {
  id: number;
  messages: Message[];
  tools?: Tool[];
  maxTokens: number;
  temperature: number;
}

/** Token counts are null if the model does not report them. */
export interface CompleteResult {
  text: string;
  toolCalls: ToolCall[];
  model: string;
  promptTokens: number | null;
  completionTokens: number | null;
}

/** `maxInputTokens` is null if it is not known. */
export interface ModelInfo {
  maxInputTokens: number | null;
  tools: boolean;
}

/** An empty text only shows that the model is at work. */
export interface CompletingParams {
  id: number;
  text: string;
}

/** `variable` is the environment variable that usually holds the key. */
export interface KeyParams {
  provider: string;
  variable: string;
}

export interface KeyResult {
  key: string | null;
}

/** A test file; `tests` are there if one file was asked for, with their lines from `start` to before `end`, a class before its tests. */
export interface TestFile {
  uri: string;
  path: string;
  tests?: { test: string; start: number; end: number }[];
}

export interface TestFiles {
  files: TestFile[];
}

/** `tests` are pytest node ids of one folder, `uri` is any of their documents. */
export interface RunTestsParams {
  uri: string;
  tests: string[];
}

/** `text` sums the results up; if `ran` is false, it says why no test could be run. */
export interface RunTestsResult {
  ran: boolean;
  text: string;
}

/** One case, or a file that cannot be collected. `at`, `message` and `text` are there if it failed. */
export interface TestResult {
  uri: string;
  test: string;
  outcome: "passed" | "failed" | "error" | "skipped" | "xfailed" | "xpassed" | "missing";
  seconds: number;
  message?: string;
  text?: string;
  expected?: string;
  observed?: string;
  at?: Place;
}

export interface TestResultsParams {
  results: TestResult[];
}

/** Lines `start` to before `end` of a document, and the text that they replaced. */
export interface Change {
  uri: string;
  start: number;
  end: number;
  before: string;
}

export interface Changes {
  changes: Change[];
}
