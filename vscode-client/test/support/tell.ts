// Runs stories one after the other; what fails leaves a picture of the window and the logs of VS Code.

import { Code, type Setup } from "./code";
import { Window } from "./window";

export interface Story {
  setup: Setup;
  /** What there is besides the project, before VS Code starts. */
  prepare?: (code: Code) => void;
  /** `step` names what comes next: the last one named is where it failed. */
  play: (window: Window, code: Code, step: (name: string) => void) => Promise<void>;
}

async function play({ setup, prepare, play: run }: Story): Promise<void> {
  const window = await Window.launch();
  const code = new Code(setup);
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
    await run(window, code, step);
    step("nothing is left at the end");
    await window.close();
    await code.stop();
    code.remove();
    step("");
  } catch (error) {
    console.log(`FAILED ${name}: ${error instanceof Error ? error.message : String(error)}`);
    console.log(`picture: ${await window.failed(name)}; logs: ${code.base}`);
    await window.close();
    await code.stop().catch(() => undefined);
    throw error;
  }
}

/** The whole program. */
export function told(kind: string, stories: Story[]): void {
  const began = Date.now();
  const all = async (): Promise<void> => {
    for (const each of stories) await play(each);
  };
  all().then(
    () => console.log(`${kind}: ${((Date.now() - began) / 1000).toFixed(1)} s`),
    () => { process.exitCode = 1; },
  );
}
