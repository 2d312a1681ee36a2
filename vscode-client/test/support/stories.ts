// Runs stories one after another; a failure leaves a screenshot and the logs of VS Code.

import { CodeServer, type Setup } from "./vscodeServer";
import { Window } from "./window";

export interface Story {
  setup: Setup;
  /** Prepares more than the project, before VS Code starts. */
  prepare?: (code: CodeServer) => void;
  /** `step` names what comes next; a failure is reported under the last name. */
  play: (window: Window, code: CodeServer, step: (name: string) => void) => Promise<void>;
}

async function playStory({ setup, prepare, play: play }: Story): Promise<void> {
  const window = await Window.launch();
  const code = new CodeServer(setup);
  let name = "start";
  let began = Date.now();
  const step = (next: string): void => {
    console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    name = next;
    began = Date.now();
  };
  try {
    prepare?.(code);
    await code.start();
    await window.open(code.window());
    await play(window, code, step);
    step("no process keeps running");
    await window.close();
    await code.stop();
    code.remove();
    step("");
  } catch (error) {
    console.log(`FAILED ${name}: ${error instanceof Error ? error.message : String(error)}`);
    console.log(`picture: ${await window.saveFailure(name)}; logs: ${code.folder}`);
    await window.close();
    await code.stop().catch(() => undefined);
    throw error;
  }
}

/** Runs these stories, with `others` unless only those that show a promise are wanted, and sets the exit code. */
export function runStories(kind: string, stories: Record<string, Story>, others: Record<string, Story> = {}): void {
  const began = Date.now();
  const words = process.env["GREENLOOP_TEST_ONLY"] ?? "";
  const all = async (): Promise<void> => {
    for (const [name, each] of Object.entries({ ...stories, ...(process.env["GREENLOOP_TEST_STORIES"] ? {} : others) })) {
      if (name.includes(words)) await playStory(each);
    }
  };
  all().then(
    () => console.log(`${kind}: ${((Date.now() - began) / 1000).toFixed(1)} s`),
    () => { process.exitCode = 1; },
  );
}
