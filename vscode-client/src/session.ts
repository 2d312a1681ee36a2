// The one server for all folders: started, watched and restarted, one thing after the other.

import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type Middleware } from "vscode-languageclient/node";

import { sweep, use } from "./environment";
import type { Api, Host, Standing } from "./host";
import { Problems } from "./problem";
import { ABILITIES } from "./protocol";
import { find, neutral, type Python } from "./python";
import { runsOf } from "./runs";
import { ServerProcess } from "./server";
import { traceChannel } from "./trace";
import { broken, crashing, ended, lost, notFound } from "./troubles";

const SELECTOR = ["file", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" }));
/** Milliseconds that a server has to answer `initialize`, and to end. */
const BEGINNING = 60_000;
const ENDING = 2_000;
/** So many restarts by itself in so many milliseconds; then it is a crash loop. */
const RESTARTS = 3;
const WITHIN = 180_000;

/** `reconsider`: begin again only where another Python has become the best one. */
type Work = "begin" | "reconsider";

interface Running {
  client: LanguageClient;
  server: ServerProcess;
  python: Python;
  /** It is meant to end: nothing to tell, nothing to restart. */
  ending: boolean;
}

export class Session implements Host {
  readonly log = vscode.window.createOutputChannel("greenloop", { log: true });
  readonly problems = new Problems(this.log);
  readonly middleware: Middleware = {};
  readonly api: Api;
  standing: Standing = { state: "starting", said: "" };
  private readonly stood = new vscode.EventEmitter<Standing>();
  readonly onDidChangeStanding = this.stood.event;
  private readonly trace: vscode.LogOutputChannel;
  private readonly handlers: ((client: LanguageClient) => void)[] = [];
  private begun: (client: LanguageClient) => void = () => undefined;
  private running: Running | undefined;
  private last: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private wanted: Work = "reconsider";
  private falls: number[] = [];
  private over = false;

  constructor(readonly context: vscode.ExtensionContext) {
    this.trace = traceChannel(context.subscriptions);
    this.api = { ready: new Promise((resolve) => (this.begun = resolve)), host: this };
    context.subscriptions.push(this.log, this.stood);
  }

  client(): LanguageClient | undefined {
    return this.running?.client;
  }

  onClient(handle: (client: LanguageClient) => void): void {
    this.handlers.push(handle);
  }

  /** The process of the server that is running now. */
  get pid(): number | undefined {
    return this.running?.server.pid;
  }

  restart(): Promise<void> {
    this.falls = [];
    // One that hangs in its start is not waited for.
    if (this.standing.state === "starting") {
      this.abandon();
    }
    return this.queue("begin");
  }

  /** As `restart`, but a server whose Python is still the best one goes on. */
  reconsider(): Promise<void> {
    return this.queue("reconsider");
  }

  async stop(): Promise<void> {
    this.over = true;
    this.abandon();
    await this.queue("begin");
  }

  /** What is asked for while something waits already is done once. */
  private queue(work: Work): Promise<void> {
    if (this.next === undefined) {
      this.wanted = work;
      this.next = this.last = this.last.then(() => this.work());
    } else if (work === "begin") {
      this.wanted = work;
    }
    return this.next;
  }

  private async work(): Promise<void> {
    this.next = undefined;
    try {
      if (this.over) {
        await this.end();
      } else if (this.wanted === "begin" || !(await this.same())) {
        await this.begin();
      }
    } catch (error) {
      const problem = broken(String(error));
      this.stand("error", problem.message);
      this.problems.show(problem);
    }
  }

  /** Whether the server that runs is to go on: another Python must fit to take its place. */
  private async same(): Promise<boolean> {
    const path = this.running?.python.path;
    const found = path === undefined ? undefined : await find(this.context);
    return found !== undefined && (found.kind !== "fits" || found.python.path === path);
  }

  private abandon(): void {
    if (this.running !== undefined && this.standing.state === "starting") {
      this.running.ending = true;
      this.running.server.kill();
    }
  }

  stand(state: Standing["state"], said: string): void {
    this.standing = { state, said };
    void vscode.commands.executeCommand("setContext", "greenloop.ready", state === "ready");
    this.stood.fire(this.standing);
  }

  private async begin(): Promise<void> {
    // First of all: what is asked for while the old one ends waits for the new one.
    this.stand("starting", "greenloop is starting.");
    await this.end();
    const found = await find(this.context);
    if (found.kind !== "fits") {
      const problem = notFound(found, this.context);
      this.stand("error", problem.message);
      this.problems.show(problem);
      return;
    }
    const { python } = found;
    await use(this.context, python.path).catch((error: unknown) => this.log.debug(String(error)));
    this.log.info(`greenloop ${python.greenloop ?? ""} of ${python.path} (Python ${python.version.join(".")})`);
    const server = new ServerProcess(python.path, await neutral(this.context), this.log);
    const running: Running = { client: this.connect(server), server, python, ending: false };
    this.running = running;
    const failed = await this.started(running);
    if (failed === undefined) {
      this.stand("ready", `greenloop ${python.greenloop ?? ""} of ${python.path}`);
      this.begun(running.client);
      void server.gone.then((how) => this.fell(running, how));
      void sweep(this.context).catch((error: unknown) => this.log.debug(String(error)));
    } else if (!running.ending) {
      server.kill();
      await server.gone;
      this.fell(running, failed);
    }
  }

  /** Undefined once it runs; else why it does not. */
  private async started({ client, server }: Running): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve("it did not answer in time"), BEGINNING);
    });
    const start = client.start().then(
      () => undefined,
      (error: unknown) => Promise.race([server.gone, late]).then((how) => `${how} (${String(error)})`),
    );
    const how = await Promise.race([start, server.gone, late]);
    clearTimeout(timer);
    return how;
  }

  private connect(server: ServerProcess): LanguageClient {
    const client = new LanguageClient("greenloop", "greenloop", () => server.streams(), {
      documentSelector: SELECTOR,
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      middleware: this.middleware,
      initializationFailedHandler: () => false,
      // Restarts are this file's business: one queue for all of them.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
    });
    // Every error of the client stands in the log; messages are the business of `problems`, one for each.
    const error = client.error.bind(client);
    client.error = (message, data) => {
      error(message, data, false);
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

  private async end(): Promise<void> {
    const running = this.running;
    this.running = undefined;
    if (running === undefined) {
      return;
    }
    running.ending = true;
    // Whether it ends by itself or not: afterwards it is gone.
    await running.client.stop(ENDING).catch((error: unknown) => this.log.debug(String(error)));
    await running.server.end(ENDING);
  }

  /** The server is gone without having been told to. */
  private fell(running: Running, how: string): void {
    if (running.ending || this.over) {
      return;
    }
    running.ending = true;
    this.log.error(`The server fell: ${how}. The last that it wrote:`);
    running.server.tail.forEach((line) => this.log.error(`  ${line}`));
    const runs = runsOf(this);
    runs.end();
    const going = runs.lost;
    const now = Date.now();
    this.falls = [...this.falls.filter((at) => now - at < WITHIN), now];
    if (this.falls.length <= RESTARTS) {
      this.log.info(`Restart ${this.falls.length} of ${RESTARTS}.`);
      if (going.length > 0) {
        this.problems.show(lost(going.map((run) => run.name)));
      }
      void this.queue("begin");
    } else {
      this.running = undefined;
      const problem = crashing(ended(running.server.tail, how));
      this.stand("error", problem.message);
      this.problems.show(problem);
    }
  }
}
