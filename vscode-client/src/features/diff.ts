// Attempts as read-only documents, and VS Code's diff editor between them and the user's files.

import * as vscode from "vscode";

import { beyondStart, request, sentence } from "../ask";
import { attemptUri, same, SCHEME, shownAt, type Shown } from "../attemptUri";
import type { Host } from "../host";
import { type AttemptFiles, type AttemptParams, METHODS, type Named, type Run } from "../protocol";
import { runsOf, type Runs } from "../runs";
import { attemptName } from "../words";

/** Milliseconds without a key after which an attempt is put into what was typed. */
const TYPED = 300;

/** The texts of attempts; each is asked for once, until its run or the user's file has changed. */
class Texts implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly texts = new Map<string, string>();

  constructor(private readonly host: Host) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shown = shownAt(uri);
    if (shown === undefined || shown.empty === true) {
      return "";
    }
    const kept = this.texts.get(uri.toString());
    if (kept !== undefined) {
      return kept;
    }
    const { uri: from, target, attempt } = shown;
    const params: AttemptParams = { uri: from, target, attempt };
    // An editor of the last session is there before the server.
    const client = await beyondStart(this.host);
    const reply = await client?.sendRequest<AttemptFiles>(METHODS.attempt, params);
    const text = reply?.files.find((file) => file.uri === shown.file)?.text;
    if (text === undefined) {
      throw new Error("This attempt is no longer known.");
    }
    return this.keep(shown, text);
  }

  keep(shown: Shown, text: string): string {
    const uri = attemptUri(shown);
    const before = this.texts.get(uri.toString());
    this.texts.set(uri.toString(), text);
    if (before !== undefined && before !== text) {
      this.changed.fire(uri);
    }
    return text;
  }

  /** Has the open ones asked for again; a text that can no longer be had stays as it is. */
  async refresh(which: (shown: Shown) => boolean): Promise<void> {
    for (const { uri } of vscode.workspace.textDocuments) {
      const shown = shownAt(uri);
      if (shown === undefined || !which(shown)) {
        continue;
      }
      const before = this.texts.get(uri.toString());
      this.texts.delete(uri.toString());
      try {
        if ((await this.provideTextDocumentContent(uri)) !== before) {
          this.changed.fire(uri);
        }
      } catch (error) {
        this.host.log.debug(sentence(error));
        if (before !== undefined) {
          this.keep(shown, before);
        }
      }
    }
  }

  forget(uri: vscode.Uri): void {
    this.texts.delete(uri.toString());
  }
}

type OpenDiff = (params: AttemptParams, preview: boolean) => Promise<void>;

const openers = new WeakMap<Host, OpenDiff>();

/** Opens the diff editor on an attempt; as a `preview` it gives way to the next one. */
export async function openDiff(host: Host, params: AttemptParams, preview: boolean): Promise<void> {
  await openers.get(host)?.(params, preview);
}

export function register(host: Host): void {
  const runs = runsOf(host);
  const texts = new Texts(host);
  openers.set(host, (params, preview) => open(host, runs, texts, params, preview));
  let known = new Map<string, string>();
  let typed: NodeJS.Timeout | undefined;
  host.context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, texts),
    vscode.workspace.onDidCloseTextDocument((document) => texts.forget(document.uri)),
    runs.onDidChange(() => {
      const now = new Map(runs.all.map((run) => [`${run.uri}\n${run.target}`, standing(run)]));
      const changed = (shown: Shown) => {
        const key = `${shown.uri}\n${shown.target}`;
        return before.get(key) !== now.get(key);
      };
      const before = known;
      known = now;
      void texts.refresh(changed);
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme !== SCHEME && document.languageId === "python") {
        clearTimeout(typed);
        typed = setTimeout(() => void texts.refresh(() => true), TYPED);
      }
    }),
    { dispose: () => clearTimeout(typed) },
  );
}

/** What an attempt's text depends on, beside the user's. */
function standing(run: Run): string {
  return [run.phase, run.applied, run.attempts.length].join(" ");
}

async function open(
  host: Host,
  runs: Runs,
  texts: Texts,
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
    void vscode.window.showInformationMessage(`${start(attemptName(attempt))} changes nothing in your files.`);
    return;
  }
  const before = run?.applied ? await original(host, texts, params) : new Set<string>();
  const pairs = await Promise.all(
    reply.files.map(async (file): Promise<Pair> => {
      const shown: Shown = { uri, target, attempt, file: file.uri };
      texts.keep(shown, file.text);
      return [vscode.Uri.parse(file.uri), await left(shown, before), attemptUri(shown)];
    }),
  );
  const heading = title(pairs, params, run);
  const labels = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  [...headings.keys()].filter((old) => !labels.some((label) => label.startsWith(old))).forEach((old) => headings.delete(old));
  headings.set(heading, { uri, target, attempt });
  await show(pairs, heading, preview);
}

type Pair = [file: vscode.Uri, left: vscode.Uri, right: vscode.Uri];

/** What is applied already is compared with the text from before, else there would be nothing to see. */
async function original(host: Host, texts: Texts, { uri, target }: Named): Promise<Set<string>> {
  const reply = await request<AttemptFiles>(host, METHODS.attempt, { uri, target, attempt: 0 });
  reply?.files.forEach((file) => texts.keep({ uri, target, attempt: 0, file: file.uri }, file.text));
  return new Set(reply?.files.map((file) => file.uri));
}

async function left(shown: Shown, before: Set<string>): Promise<vscode.Uri> {
  const file = vscode.Uri.parse(shown.file);
  if (before.has(shown.file)) {
    return attemptUri({ ...shown, attempt: 0 });
  }
  if (file.scheme !== "file" || vscode.workspace.textDocuments.some((each) => each.uri.toString() === shown.file)) {
    return file;
  }
  const there = await vscode.workspace.fs.stat(file).then(() => true, () => false);
  return there ? file : attemptUri({ ...shown, attempt: 0, empty: true });
}

async function show(pairs: Pair[], heading: string, preview: boolean): Promise<void> {
  const [first, ...others] = pairs;
  if (first !== undefined && others.length === 0) {
    const options: vscode.TextDocumentShowOptions = { preview };
    await vscode.commands.executeCommand("vscode.diff", first[1], first[2], heading, options);
  } else {
    await vscode.commands.executeCommand("vscode.changes", heading, pairs);
  }
}

/** `m.py: attempt 2 of test_double (0/1)`. */
function title(pairs: Pair[], params: AttemptParams, run: Run | undefined): string {
  const files = pairs.map(([file]) => file.path.split("/").pop() ?? "").join(", ");
  const found = run?.attempts.find((each) => each.attempt === params.attempt);
  const verdict = found !== undefined && found.total > 0 ? ` (${found.passed}/${found.total})` : "";
  const name = run?.name ?? params.target;
  const applied = run?.applied && run.result === params.attempt ? ", applied" : "";
  return `${files}: ${attemptName(params.attempt)} of ${name}${verdict}${applied}`;
}

function start(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What diff editors on several files show, by their titles: they have no documents to go by. */
const headings = new Map<string, AttemptParams>();

/** The attempt that a tab shows. */
export function attemptIn(tab: vscode.Tab | undefined): AttemptParams | undefined {
  if (tab?.input instanceof vscode.TabInputTextDiff) {
    return shownAt(tab.input.modified);
  }
  const heading = tab === undefined ? undefined : [...headings.keys()].find((each) => tab.label.startsWith(each));
  return heading === undefined ? undefined : headings.get(heading);
}

/** Closes what shows attempts of a run: it is decided. */
export async function closeDiffs(named: Named): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(
    tabs.filter((tab) => {
      const shown = attemptIn(tab);
      return shown !== undefined && same(shown, named);
    }),
  );
}
