// Shows attempts as read-only documents, compared with the user's files in the diff editor.

import * as vscode from "vscode";

import { ATTEMPT_SCHEME, type AttemptDocument, attemptUri, isSameTarget, parseAttemptUri } from "../attemptUri";
import { attemptName } from "../formatting";
import type { Host } from "../host";
import { type AttemptFiles, type AttemptParams, METHODS, type Run, type TargetRef } from "../protocol";
import { type RunStore, runStoreOf } from "../runStore";
import { errorMessage, request, waitForClient } from "../serverRequests";

/** Milliseconds to wait after an edit before attempts are merged into the new text. */
const TYPING_PAUSE_MS = 300;

/** Texts of attempts; each is requested once, until its run or the user's file changes. */
class AttemptTexts implements vscode.TextDocumentContentProvider {
  private readonly didChange = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.didChange.event;
  private readonly texts = new Map<string, string>();

  constructor(private readonly host: Host) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const document = parseAttemptUri(uri);
    if (document === undefined || document.empty === true) {
      return "";
    }
    const cached = this.texts.get(uri.toString());
    if (cached !== undefined) {
      return cached;
    }
    const { uri: runUri, target, attempt } = document;
    const params: AttemptParams = { uri: runUri, target, attempt };
    // Editors restored from the last session open before the server is ready.
    const client = await waitForClient(this.host);
    const reply = await client?.sendRequest<AttemptFiles>(METHODS.attempt, params);
    const text = reply?.files.find((file) => file.uri === document.file)?.text;
    if (text === undefined) {
      throw new Error("This attempt is no longer available.");
    }
    return this.store(document, text);
  }

  store(document: AttemptDocument, text: string): string {
    const uri = attemptUri(document);
    const before = this.texts.get(uri.toString());
    this.texts.set(uri.toString(), text);
    if (before !== undefined && before !== text) {
      this.didChange.fire(uri);
    }
    return text;
  }

  /** Requests the open texts again; one that is no longer available keeps its content. */
  async refresh(isAffected: (document: AttemptDocument) => boolean): Promise<void> {
    for (const { uri } of vscode.workspace.textDocuments) {
      const document = parseAttemptUri(uri);
      if (document === undefined || !isAffected(document)) {
        continue;
      }
      const before = this.texts.get(uri.toString());
      this.texts.delete(uri.toString());
      try {
        if ((await this.provideTextDocumentContent(uri)) !== before) {
          this.didChange.fire(uri);
        }
      } catch (error) {
        this.host.log.debug(errorMessage(error));
        if (before !== undefined) {
          this.store(document, before);
        }
      }
    }
  }

  remove(uri: vscode.Uri): void {
    this.texts.delete(uri.toString());
  }
}

type DiffOpener = (params: AttemptParams, preview: boolean) => Promise<void>;

const openers = new WeakMap<Host, DiffOpener>();

/** Opens an attempt in the diff editor; a `preview` is replaced by the next one. */
export async function openDiff(host: Host, params: AttemptParams, preview: boolean): Promise<void> {
  await openers.get(host)?.(params, preview);
}

export function register(host: Host): void {
  const runs = runStoreOf(host);
  const texts = new AttemptTexts(host);
  openers.set(host, (params, preview) => openAttempt(host, runs, texts, params, preview));
  let fingerprints = new Map<string, string>();
  let typingTimer: NodeJS.Timeout | undefined;
  host.context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(ATTEMPT_SCHEME, texts),
    vscode.workspace.onDidCloseTextDocument((document) => texts.remove(document.uri)),
    runs.onDidChange(() => {
      const current = new Map(runs.all.map((run) => [`${run.uri}\n${run.target}`, runFingerprint(run)]));
      const hasChanged = (document: AttemptDocument) => {
        const key = `${document.uri}\n${document.target}`;
        return before.get(key) !== current.get(key);
      };
      const before = fingerprints;
      fingerprints = current;
      void texts.refresh(hasChanged);
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme !== ATTEMPT_SCHEME && document.languageId === "python") {
        clearTimeout(typingTimer);
        typingTimer = setTimeout(() => void texts.refresh(() => true), TYPING_PAUSE_MS);
      }
    }),
    { dispose: () => clearTimeout(typingTimer) },
  );
}

/** What an attempt's text depends on, apart from the user's text. */
function runFingerprint(run: Run): string {
  return [run.phase, run.applied, run.attempts.length].join(" ");
}

async function openAttempt(
  host: Host,
  runs: RunStore,
  texts: AttemptTexts,
  params: AttemptParams,
  preview: boolean,
): Promise<void> {
  const { uri, target, attempt } = params;
  const run = runs.find(params);
  if (attempt === 0) {
    await vscode.window.showTextDocument(vscode.Uri.parse(uri), { preview });
    return;
  }
  const reply = await request<AttemptFiles>(host, METHODS.attempt, { uri, target, attempt } satisfies AttemptParams);
  if (reply === undefined) {
    return;
  }
  if (reply.files.length === 0) {
    void vscode.window.showInformationMessage(`${capitalize(attemptName(attempt))} does not change your files.`);
    return;
  }
  const withOriginal = run?.applied ? await storeOriginals(host, texts, params) : new Set<string>();
  const pairs = await Promise.all(
    reply.files.map(async (file): Promise<Pair> => {
      const document: AttemptDocument = { uri, target, attempt, file: file.uri };
      texts.store(document, file.text);
      return [vscode.Uri.parse(file.uri), await leftSide(document, withOriginal), attemptUri(document)];
    }),
  );
  const title = diffTitle(pairs, params, run);
  const labels = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  [...attemptsByTitle.keys()].filter((each) => !labels.some((label) => label.startsWith(each))).forEach((each) => attemptsByTitle.delete(each));
  attemptsByTitle.set(title, { uri, target, attempt });
  await showDiff(pairs, title, preview);
}

type Pair = [file: vscode.Uri, left: vscode.Uri, right: vscode.Uri];

/** Stores the texts from before the run: an applied result would not differ from the current ones. */
async function storeOriginals(host: Host, texts: AttemptTexts, { uri, target }: TargetRef): Promise<Set<string>> {
  const reply = await request<AttemptFiles>(host, METHODS.attempt, { uri, target, attempt: 0 });
  reply?.files.forEach((file) => texts.store({ uri, target, attempt: 0, file: file.uri }, file.text));
  return new Set(reply?.files.map((file) => file.uri));
}

async function leftSide(document: AttemptDocument, withOriginal: Set<string>): Promise<vscode.Uri> {
  const file = vscode.Uri.parse(document.file);
  if (withOriginal.has(document.file)) {
    return attemptUri({ ...document, attempt: 0 });
  }
  if (file.scheme !== "file" || vscode.workspace.textDocuments.some((each) => each.uri.toString() === document.file)) {
    return file;
  }
  const exists = await vscode.workspace.fs.stat(file).then(() => true, () => false);
  return exists ? file : attemptUri({ ...document, attempt: 0, empty: true });
}

async function showDiff(pairs: Pair[], title: string, preview: boolean): Promise<void> {
  const [first, ...others] = pairs;
  if (first !== undefined && others.length === 0) {
    const options: vscode.TextDocumentShowOptions = { preview };
    await vscode.commands.executeCommand("vscode.diff", first[1], first[2], title, options);
  } else {
    await vscode.commands.executeCommand("vscode.changes", title, pairs);
  }
}

/** `m.py: attempt 2 of test_double (0/1)`. */
function diffTitle(pairs: Pair[], params: AttemptParams, run: Run | undefined): string {
  const files = pairs.map(([file]) => file.path.split("/").pop() ?? "").join(", ");
  const attempt = run?.attempts.find((each) => each.attempt === params.attempt);
  const verdict = attempt !== undefined && attempt.total > 0 ? ` (${attempt.passed}/${attempt.total})` : "";
  const name = run?.name ?? params.target;
  const applied = run?.applied && run.result === params.attempt ? ", applied" : "";
  return `${files}: ${attemptName(params.attempt)} of ${name}${verdict}${applied}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Attempts by the title of their multi-file diff editor, which has no document that would identify them. */
const attemptsByTitle = new Map<string, AttemptParams>();

/** The attempt that a tab shows. */
export function attemptShownIn(tab: vscode.Tab | undefined): AttemptParams | undefined {
  if (tab?.input instanceof vscode.TabInputTextDiff) {
    return parseAttemptUri(tab.input.modified);
  }
  const title = tab === undefined ? undefined : [...attemptsByTitle.keys()].find((each) => tab.label.startsWith(each));
  return title === undefined ? undefined : attemptsByTitle.get(title);
}

/** Closes all tabs with attempts of a run that has been applied or discarded. */
export async function closeDiffs(target: TargetRef): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(
    tabs.filter((tab) => {
      const shown = attemptShownIn(tab);
      return shown !== undefined && isSameTarget(shown, target);
    }),
  );
}
