// Small projects with a red test, and what the scripted model answers to them.

/** A model's answer with this code. */
export function answer(code: string): string {
  return `\`\`\`python\n${code}\`\`\``;
}

export function fn(name: string, value: string): string {
  return `def ${name}(x):\n    return ${value}\n`;
}

/** A module whose function adds one, and the test that wants it to double. */
export function red(name: string): Record<string, string> {
  const test = `from ${name} import ${name}\n\n\ndef test_${name}():\n    assert ${name}(5) == 10\n`;
  return { [`${name}.py`]: fn(name, "x + 1"), [`test_${name}.py`]: test };
}

/**
 * Code that returns once something stands in the file: a run is held where a test wants to look.
 * The file must be there before: what is new beneath the sandbox's layer is never seen in it.
 */
export function waiting(name: string, value: string, file: string, head = ""): string {
  const loop = `    while not open(${JSON.stringify(file)}).read():\n        time.sleep(0.01)\n`;
  return `def ${name}(x):\n${head}    import time\n${loop}    return ${value}\n`;
}

/** The file of the scripted model: one answer a line. */
export function script(...answers: string[]): string {
  return answers.map((each) => `${JSON.stringify(each)}\n`).join("");
}
