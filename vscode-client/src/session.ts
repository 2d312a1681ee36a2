// Runs one server for all folders: starts, watches and restarts it, one task at a time.

import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type Middleware } from "vscode-languageclient/node";

import { respond } from "./features/chatParticipant";
import type { Api, Host, ServerStatus } from "./host";
import { markInUse, removeUnused } from "./managedEnvironments";
import { ProblemReporter } from "./problem";
import { ABILITIES } from "./protocol";
import { emptyFolder, findPython, type Python } from "./python";
import { runStoreOf } from "./runStore";
import { ServerProcess } from "./serverProcess";
import { crashLoop, describeExit, interruptedRuns, pythonProblem, startFailed } from "./startupProblems";
import { createTraceChannel } from "./trace";

const DOCUMENT_SELECTOR = ["file", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" }));
/** Milliseconds that a server may take to answer `initialize`, and to exit. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 2_000;
/** More automatic restarts than this within that many milliseconds are a crash loop. */
const MAX_RESTARTS = 3;
const RESTART_WINDOW_MS = 180_000;

/** `reconsider` restarts only if the search now finds another Python. */
type Task = "restart" | "reconsider";

interface RunningServer {
  client: LanguageClient;
  server: ServerProcess;
  python: Python;
  /** It was told to stop, so its exit is neither reported nor followed by a restart. */
  isStopping: boolean;
}

export class Session implements Host {
  readonly log = vscode.window.createOutputChannel("greenloop", { log: true });
  readonly problems = new ProblemReporter(this.log);
  readonly middleware: Middleware = {};
  readonly api: Api;
  serverStatus: ServerStatus = { state: "starting", message: "" };
  private readonly didChangeServerStatus = new vscode.EventEmitter<ServerStatus>();
  readonly onDidChangeServerStatus = this.didChangeServerStatus.event;
  private readonly trace: vscode.LogOutputChannel;
  private readonly handlers: ((client: LanguageClient) => void)[] = [];
  private resolveReady: (client: LanguageClient) => void = () => undefined;
  private running: RunningServer | undefined;
  private lastTask: Promise<void> = Promise.resolve();
  private pendingTask: Promise<void> | undefined;
  private pendingKind: Task = "reconsider";
  private crashTimes: number[] = [];
  private isDeactivated = false;

  constructor(readonly context: vscode.ExtensionContext) {
    this.trace = createTraceChannel(context.subscriptions);
    const ready = new Promise<LanguageClient>((resolve) => (this.resolveReady = resolve));
    this.api = { ready, host: this, respond: (...question) => respond(this, ...question) };
    context.subscriptions.push(this.log, this.didChangeServerStatus);
  }

  client(): LanguageClient | undefined {
    return this.running?.client;
  }

  python(): Python | undefined {
    return this.serverStatus.state === "ready" ? this.running?.python : undefined;
  }

  onClientCreated(handle: (client: LanguageClient) => void): void {
    this.handlers.push(handle);
  }

  /** The process id of the running server. */
  get pid(): number | undefined {
    return this.running?.server.pid;
  }

  restart(): Promise<void> {
    this.crashTimes = [];
    // Does not wait for a server that hangs while it starts.
    if (this.serverStatus.state === "starting") {
      this.killIfStarting();
    }
    return this.queue("restart");
  }

  /** Like `restart`, but keeps the running server if its Python is still the first choice. */
  reconsider(): Promise<void> {
    return this.queue("reconsider");
  }

  async stop(): Promise<void> {
    this.isDeactivated = true;
    this.killIfStarting();
    await this.queue("restart");
  }

  /** Adds a task, or merges it with the one that is already waiting. */
  private queue(task: Task): Promise<void> {
    if (this.pendingTask === undefined) {
      this.pendingKind = task;
      this.pendingTask = this.lastTask = this.lastTask.then(() => this.runTask());
    } else if (task === "restart") {
      this.pendingKind = task;
    }
    return this.pendingTask;
  }

  private async runTask(): Promise<void> {
    this.pendingTask = undefined;
    try {
      if (this.isDeactivated) {
        await this.stopServer();
      } else if (this.pendingKind === "restart" || !(await this.isPythonStillBest())) {
        await this.startServer();
      }
    } catch (error) {
      const problem = startFailed(String(error));
      this.setServerStatus("error", problem.message);
      this.problems.show(problem);
    }
  }

  /** Whether to keep the running server: only a usable Python may replace its own. */
  private async isPythonStillBest(): Promise<boolean> {
    const path = this.running?.python.path;
    const result = path === undefined ? undefined : await findPython(this.context);
    return result !== undefined && (result.kind !== "usable" || result.python.path === path);
  }

  private killIfStarting(): void {
    if (this.running !== undefined && this.serverStatus.state === "starting") {
      this.running.isStopping = true;
      this.running.server.kill();
    }
  }

  setServerStatus(state: ServerStatus["state"], message: string): void {
    this.serverStatus = { state, message };
    void vscode.commands.executeCommand("setContext", "greenloop.ready", state === "ready");
    void vscode.commands.executeCommand("setContext", "greenloop.failed", state === "error");
    this.didChangeServerStatus.fire(this.serverStatus);
  }

  private async startServer(): Promise<void> {
    // Set first, so that requests made while the old server stops wait for the new one.
    this.setServerStatus("starting", "greenloop is starting.");
    await this.stopServer();
    const result = await findPython(this.context);
    if (result.kind !== "usable") {
      const problem = pythonProblem(result, this.context);
      this.setServerStatus("error", problem.message);
      this.problems.show(problem);
      return;
    }
    const { python } = result;
    await markInUse(this.context, python.path).catch((error: unknown) => this.log.debug(String(error)));
    this.log.info(`Starting greenloop ${python.greenloop ?? ""} with ${python.path} (Python ${python.version.join(".")}).`);
    const server = new ServerProcess(python.path, await emptyFolder(this.context), this.log);
    const running: RunningServer = { client: this.createClient(server), server, python, isStopping: false };
    this.running = running;
    const startError = await this.startClient(running);
    if (startError === undefined) {
      this.setServerStatus("ready", `greenloop ${python.greenloop ?? ""} (${python.path})`);
      this.resolveReady(running.client);
      void server.exited.then((exit) => this.onServerExit(running, exit));
      void removeUnused(this.context).catch((error: unknown) => this.log.debug(String(error)));
    } else if (!running.isStopping) {
      server.kill();
      await server.exited;
      this.onServerExit(running, startError);
    }
  }

  /** Returns undefined once the server is ready, else the reason why it is not. */
  private async startClient({ client, server }: RunningServer): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`it did not answer within ${START_TIMEOUT_MS / 1000} seconds`), START_TIMEOUT_MS);
    });
    const start = client.start().then(
      () => undefined,
      (error: unknown) => Promise.race([server.exited, timeout]).then((exit) => `${exit} (${String(error)})`),
    );
    const startError = await Promise.race([start, server.exited, timeout]);
    clearTimeout(timer);
    return startError;
  }

  private createClient(server: ServerProcess): LanguageClient {
    const client = new LanguageClient("greenloop", "greenloop", () => server.streams(), {
      documentSelector: DOCUMENT_SELECTOR,
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      middleware: this.middleware,
      initializationFailedHandler: () => false,
      // This class restarts the server itself: there is one queue for all restarts.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
    });
    // The client's errors go to the log only; `problems` shows one message for each problem.
    const logError = client.error.bind(client);
    client.error = (message, data) => {
      logError(message, data, false);
    };
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), greenloop: ABILITIES };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    this.handlers.forEach((handle) => handle(client));
    return client;
  }

  private async stopServer(): Promise<void> {
    const running = this.running;
    this.running = undefined;
    if (running === undefined) {
      return;
    }
    running.isStopping = true;
    // Asks it to shut down, then makes sure that it has exited.
    await running.client.stop(STOP_TIMEOUT_MS).catch((error: unknown) => this.log.debug(String(error)));
    await running.server.waitForExit(STOP_TIMEOUT_MS);
  }

  /** Reports the exit of a server that was not told to stop, and restarts it unless it keeps crashing. */
  private onServerExit(running: RunningServer, exit: string): void {
    if (running.isStopping || this.isDeactivated) {
      return;
    }
    running.isStopping = true;
    this.log.error(`The server stopped unexpectedly: ${exit}. Its last output:`);
    running.server.tail.forEach((line) => this.log.error(`  ${line}`));
    const runs = runStoreOf(this);
    runs.markInterrupted();
    const interrupted = runs.interrupted;
    const now = Date.now();
    this.crashTimes = [...this.crashTimes.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.crashTimes.length <= MAX_RESTARTS) {
      this.log.info(`Restart ${this.crashTimes.length} of ${MAX_RESTARTS}.`);
      if (interrupted.length > 0) {
        this.problems.show(interruptedRuns(interrupted.map((run) => run.name)));
      }
      void this.queue("restart");
    } else {
      this.running = undefined;
      const problem = crashLoop(describeExit(running.server.tail, exit));
      this.setServerStatus("error", problem.message);
      this.problems.show(problem);
    }
  }
}
