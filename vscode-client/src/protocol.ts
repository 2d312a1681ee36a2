// greenloop's own messages; docs/protocol.md describes them, a test of the server compares the names.

export const METHODS = {
  /** client to server: see the page; answers when the run is over. */
  refine: "greenloop/refine",
  /** server to client, a notification: every run that the server knows, whenever one has come further. */
  runs: "greenloop/runs",
  /** client to server: the files as an attempt would leave them. */
  attempt: "greenloop/attempt",
  /** client to server: the attempts of a run as Markdown. */
  report: "greenloop/report",
  /** client to server: what can be chosen. */
  choices: "greenloop/choices",
  /** server to client, a notification: why nothing could be done, and the cure. */
  refused: "greenloop/refused",
  /** server to client, a notification: a result waits for `greenloop.apply` or `greenloop.discard`. */
  review: "greenloop/review",
  /** server to client: an answer of the editor's own language model. */
  complete: "greenloop/complete",
  /** client to server, a notification: a piece of that answer. */
  completing: "greenloop/completing",
  /** server to client: the key of a provider, which the client keeps. */
  key: "greenloop/key",
} as const;

/** What this client can do beyond LSP: `capabilities.experimental.greenloop`. */
export const ABILITIES = { runs: true, refusals: true, review: true, model: true, keys: true } as const;

/** A target of the server's: `target` is the id of a test or `path::name`. */
export interface Named {
  uri: string;
  target: string;
}

export type Status =
  | "passed" | "failed" | "timeout" | "crashed" | "not-collected" | "tampered" | "environment" | "refused";

/** One attempt; 0 is the user's own code. `cost` in US dollars, null where it is not known. */
export interface Attempt {
  attempt: number;
  parent: number | null;
  model: string;
  status: Status;
  passed: number;
  total: number;
  errorClass: string;
  message: string;
  tokens: number;
  seconds: number;
  cost: number | null;
}

/**
 * One run; `said` is how it stands in a few words, `limit` how many attempts it may make.
 * `result` is the attempt that `greenloop.apply` puts in or has put in, null where there is none.
 */
export interface Run extends Named {
  name: string;
  phase: "queued" | "refining" | "settling" | "landing" | "over";
  said: string;
  limit: number;
  seconds: number;
  solved: boolean;
  offered: boolean;
  applied: boolean;
  cancelled: boolean;
  result: number | null;
  attempts: Attempt[];
}

export interface RunsParams {
  runs: Run[];
}

export interface AttemptParams extends Named {
  attempt: number;
}

/** The text of each file that the attempt changes, in the user's text as it is now. */
export interface AttemptFiles {
  files: { uri: string; text: string }[];
}

export interface Report {
  markdown: string;
}

/** `needs` is what must be done before it can be used: "pull" or "install" for the embedded model. */
export interface Choice {
  name: string;
  about: string;
  needs?: string;
}

/** `model` and `preset` are those of the settings, "" for the automatic choice. */
export interface Choices {
  models: Choice[];
  presets: Choice[];
  model: string;
  preset: string;
}

/** `reason` is a word of `finished`; `target` is missing where the refusal is about no target. */
export interface RefusedParams {
  uri: string;
  target?: string;
  reason: string;
  message: string;
  remedy: string;
}

export interface ReviewParams extends Named {
  attempt: number;
}

/** `id` names the answer in `completing`. */
export interface CompleteParams {
  id: number;
  messages: { role: "system" | "user" | "assistant"; content: string }[];
  maxTokens: number;
  temperature: number;
}

/** Token counts are null where the model does not tell. */
export interface CompleteResult {
  text: string;
  model: string;
  promptTokens: number | null;
  completionTokens: number | null;
}

export interface CompletingParams {
  id: number;
  text: string;
}

/** `variable` is the environment variable that such a key usually is in. */
export interface KeyParams {
  provider: string;
  variable: string;
}

export interface KeyResult {
  key: string | null;
}
