// Small projects with a failing test, and answers of the scripted model.

/** A model's answer that contains this code. */
export function modelAnswer(code: string): string {
  return `\`\`\`python\n${code}\`\`\``;
}

export function functionSource(name: string, value: string): string {
  return `def ${name}(x):\n    return ${value}\n`;
}

/** A module whose function adds one, and a test that expects it to double. */
export function failingProject(name: string): Record<string, string> {
  const test = `from ${name} import ${name}\n\n\ndef test_${name}():\n    assert ${name}(5) == 10\n`;
  return { [`${name}.py`]: functionSource(name, "x + 1"), [`test_${name}.py`]: test };
}

/** A class of which one method makes the items, and another takes the last of them. */
export function boxSource(init: string, take: string): string {
  return `class Box:\n    def __init__(self):\n        ${init}\n\n    def take(self):\n        ${take}\n`;
}

export const SLOW_SOURCE = `def unique(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
`;

export const FAST_SOURCE = "def unique(items):\n    return list(dict.fromkeys(items))\n";

/** A module whose function is right and slow, and tests that call it with few items and with many. */
export function slowProject(name: string): Record<string, string> {
  const few = "def test_few():\n    assert unique([3, 1, 3]) == [3, 1]\n";
  const many = "def test_many():\n    many = list(range(2000))\n    assert unique(many * 2) == many\n";
  return { [`${name}.py`]: SLOW_SOURCE, [`test_${name}.py`]: `from ${name} import unique\n\n\n${few}\n\n${many}` };
}

/**
 * Code that returns once the file has content, so that a test can look at a run in progress.
 * The file must exist beforehand: new files outside the sandbox are not visible inside it.
 */
export function waitingFunction(name: string, value: string, file: string, head = ""): string {
  const loop = `    while not open(${JSON.stringify(file)}).read():\n        time.sleep(0.01)\n`;
  return `def ${name}(x):\n${head}    import time\n${loop}    return ${value}\n`;
}

/** A capable model's answer that replaces lines of a file. */
export function editAnswer(file: string, before: string, after: string): string {
  return `${file}\n<<<<<<< SEARCH\n${before}=======\n${after}>>>>>>> REPLACE\n`;
}

/** A reply of a capable model that looks at the project: names of tools with their arguments. */
export function looks(...calls: [name: string, arguments: object][]): object {
  return { calls, text: "" };
}

/** The scripted model's file: one answer a line. */
export function modelScript(...answers: (string | object)[]): string {
  return answers.map((each) => `${JSON.stringify(each)}\n`).join("");
}
