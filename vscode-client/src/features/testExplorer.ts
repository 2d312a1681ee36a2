// The tests of the workspace in the Testing view, with three ways to run them: in the sandbox, refine, explain.
//
// In folders whose tests the Python extension shows, this controller shows none: greenloop's commands are in its menus.

import * as vscode from "vscode";

import { explain } from "../agentRequests";
import type { Host } from "../host";
import { METHODS, type RunTestsParams, type RunTestsResult, type TestFiles, type TestResult, type TestResultsParams } from "../protocol";
import { showsTests } from "../pythonExtension";
import { RefineReports } from "../refineReports";
import { runStoreOf } from "../runStore";
import { errorMessage, requestQuietly, waitForClient } from "../serverRequests";
import { createMessage, reportExplanation, reportResult, writeOutput } from "../testReports";
import { leavesOf, TestTree } from "../testTree";

/** Files that decide which files and functions are tests. */
const CONFIGURATION = /(^|\/)(pyproject\.toml|\.?pytest\.ini|tox\.ini|setup\.cfg)$/;
/** Milliseconds to wait for further changes on the disk. */
const PAUSE_MS = 200;

type Handler = (testRun: vscode.TestRun, items: vscode.TestItem[], token: vscode.CancellationToken) => Promise<void>;

/** A run that waits for results: of which tests, and which have failed. */
interface Waiting {
  testRun: vscode.TestRun;
  items: readonly vscode.TestItem[];
  failed: Set<vscode.TestItem>;
}

export function register(host: Host): void {
  const controller = vscode.tests.createTestController("greenloop", "greenloop");
  const tree = new TestTree(controller);
  const waiting = new Set<Waiting>();
  let areFilesListed = false;

  // -- which tests there are ---------------------------------------------------------------------------------------

  async function listFiles(): Promise<void> {
    const reply = await requestQuietly<TestFiles>(host, METHODS.tests, {});
    if (reply !== undefined) {
      areFilesListed = true;
      tree.showFiles(reply.files.filter((file) => !showsTests(vscode.Uri.parse(file.uri))));
      await Promise.all(vscode.workspace.textDocuments.map(listTests));
    }
  }

  async function listTests({ uri, languageId }: Pick<vscode.TextDocument, "uri" | "languageId">): Promise<void> {
    if (uri.scheme !== "file" || languageId !== "python") {
      return;
    }
    const reply = showsTests(uri) ? { files: [] } : await requestQuietly<TestFiles>(host, METHODS.tests, { uri: uri.toString() });
    reply?.files.forEach((file) => tree.showTests(file));
    if (reply?.files.length === 0) {
      tree.remove(uri);
    }
  }

  let timer: NodeJS.Timeout | undefined;
  function listFilesSoon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void (areFilesListed ? listFiles() : Promise.all(vscode.workspace.textDocuments.map(listTests))), PAUSE_MS);
  }

  controller.resolveHandler = (item) => (item?.uri === undefined ? listFiles() : listTests({ uri: item.uri, languageId: "python" }));
  controller.refreshHandler = listFiles;

  // -- runs --------------------------------------------------------------------------------------------------------

  /** Runs tests in the sandbox; returns those that failed. */
  async function runTests(testRun: vscode.TestRun, items: vscode.TestItem[], token: vscode.CancellationToken): Promise<vscode.TestItem[]> {
    const client = await waitForClient(host);
    const entry: Waiting = { testRun, items, failed: new Set() };
    waiting.add(entry);
    const started = leavesOf(items);
    started.forEach((item) => testRun.started(item));
    try {
      // One request for each folder, whose tests the server runs together.
      for (const inFolder of groupByFolder(items)) {
        const params: RunTestsParams = { uri: inFolder[0]?.uri?.toString() ?? "", tests: inFolder.map((item) => tree.nodeId(item)) };
        const reply = (await client?.sendRequest<RunTestsResult>(METHODS.runTests, params, token)) ?? { ran: false, text: host.serverStatus.message };
        writeOutput(testRun, `${reply.text}\n`);
        if (!reply.ran && !token.isCancellationRequested) {
          inFolder.forEach((item) => testRun.errored(item, createMessage(reply.text)));
        }
      }
    } finally {
      waiting.delete(entry);
    }
    // Tests whose cases were not known before they ran.
    for (const item of started.filter((each) => each.children.size > 0)) {
      if ([...entry.failed].some((each) => isWithin(each, item))) {
        testRun.failed(item, []);
      } else {
        testRun.passed(item);
      }
    }
    return [...entry.failed];
  }

  function showResults(results: readonly TestResult[]): void {
    const unasked: [vscode.TestItem, TestResult][] = [];
    for (const result of results) {
      const item = tree.find(result.uri, result.test);
      if (item === undefined) {
        continue;
      }
      const entries = [...waiting].filter(({ items }) => items.some((each) => isWithin(item, each)));
      for (const { testRun, failed } of entries) {
        reportResult(testRun, item, result);
        if (result.outcome === "failed" || result.outcome === "error") {
          failed.add(item);
        }
      }
      if (entries.length === 0) {
        unasked.push([item, result]);
      }
    }
    if (unasked.length > 0) {
      // Tests ran after a save, or by a command.
      const testRun = createTestRun(unasked.map(([item]) => item), runProfile, "greenloop");
      unasked.forEach(([item, result]) => reportResult(testRun, item, result));
      testRun.end();
    }
  }

  function createTestRun(items: vscode.TestItem[], profile: vscode.TestRunProfile, name: string): vscode.TestRun {
    return controller.createTestRun(new vscode.TestRunRequest(items, undefined, profile, true, true), name, true);
  }

  const runProfile = addProfile("Run in Sandbox", true, async (testRun, items, token) => {
    await runTests(testRun, items, token);
  });
  const refineProfile = addProfile("Refine Until Tests Pass", false, async (testRun, items, token) => {
    const single = items.filter((item) => item.children.size === 0 && item.range !== undefined);
    const groups = items.filter((item) => !single.includes(item));
    const failed = groups.length > 0 ? await runTests(testRun, groups, token) : [];
    await Promise.all([...new Set([...single, ...failed])].map((item) => refines.refine(testRun, item, token)));
  });
  addProfile("Explain", false, async (testRun, items, token) => {
    for (const item of leavesOf(items)) {
      testRun.started(item);
      reportExplanation(testRun, item, await explain(host, { test: tree.nodeId(item) }, token));
    }
  });
  const refines = new RefineReports(host, tree, runStoreOf(host), (item, name) => createTestRun([item], refineProfile, name));

  function addProfile(label: string, isDefault: boolean, handle: Handler): vscode.TestRunProfile {
    return controller.createRunProfile(label, vscode.TestRunProfileKind.Run, async (request, token) => {
      const testRun = controller.createTestRun(request);
      // A cancelled run is over at once; the server cleans up meanwhile.
      const end = token.onCancellationRequested(() => testRun.end());
      try {
        await handle(testRun, selectedItems(controller, request), token);
      } catch (error) {
        host.log.debug(errorMessage(error));
      }
      end.dispose();
      testRun.end();
    }, isDefault);
  }

  // -- changes -----------------------------------------------------------------------------------------------------

  host.onClientCreated((client) => {
    client.onNotification(METHODS.testResults, (params: TestResultsParams) => showResults(params.results));
  });
  const watcher = vscode.workspace.createFileSystemWatcher("**/*.py", false, true, false);
  host.context.subscriptions.push(
    controller,
    watcher,
    watcher.onDidCreate(listFilesSoon),
    watcher.onDidDelete((uri) => tree.remove(uri)),
    vscode.workspace.onDidOpenTextDocument((document) => void listTests(document)),
    vscode.workspace.onDidSaveTextDocument((document) => void (CONFIGURATION.test(document.uri.path) ? listFiles() : listTests(document))),
    vscode.workspace.onDidChangeWorkspaceFolders(listFilesSoon),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("python.testing")) {
        listFilesSoon();
      }
    }),
    vscode.extensions.onDidChange(listFilesSoon),
    host.onDidChangeServerStatus(({ state }) => {
      if (state === "ready") {
        listFilesSoon();
      }
    }),
    { dispose: () => clearTimeout(timer) },
  );
}

/** The items of a request; where it excludes some, the tests that remain. */
function selectedItems(controller: vscode.TestController, { include, exclude }: vscode.TestRunRequest): vscode.TestItem[] {
  const items = include === undefined ? [...controller.items].map(([, item]) => item) : [...include];
  return exclude === undefined || exclude.length === 0
    ? items
    : leavesOf(items).filter((item) => !exclude.some((each) => isWithin(item, each)));
}

function isWithin(item: vscode.TestItem, ancestor: vscode.TestItem): boolean {
  return item.id === ancestor.id || (item.parent !== undefined && isWithin(item.parent, ancestor));
}

function groupByFolder(items: readonly vscode.TestItem[]): vscode.TestItem[][] {
  const groups = new Map<vscode.WorkspaceFolder | undefined, vscode.TestItem[]>();
  for (const item of items) {
    const folder = item.uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(item.uri);
    groups.set(folder, [...(groups.get(folder) ?? []), item]);
  }
  return [...groups.values()];
}
