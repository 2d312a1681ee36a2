// Compares version numbers of Python packages, as far as deciding "is it too old?" requires.

const VERSION = /^v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)$/;

/** Whether `version` is `minimum` or newer; false if either is not a version number. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [actual, required] = [VERSION.exec(version.trim()), VERSION.exec(minimum.trim())];
  if (actual === null || required === null) {
    return false;
  }
  const [a, b] = [releaseNumbers(actual[1]), releaseNumbers(required[1])];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) {
      return difference > 0;
    }
  }
  // 0.1.0rc1 and 0.1.0.dev3 precede 0.1.0; 0.1.0.post1 and 0.1.0+local do not.
  return !isPreRelease(actual[2]) || isPreRelease(required[2]);
}

function releaseNumbers(text = ""): number[] {
  return text.split(".").map(Number);
}

function isPreRelease(rest = ""): boolean {
  return /^[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)/i.test(rest) || /\.dev\d*/i.test(rest);
}
