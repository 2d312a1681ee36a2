// Compares version numbers of Python packages, as far as "is it old?" asks for it.

const FORM = /^v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)$/;

/** Whether `found` is the version `needed` or a newer one; what is no version is not. */
export function atLeast(found: string, needed: string): boolean {
  const [mine, its] = [FORM.exec(found.trim()), FORM.exec(needed.trim())];
  if (mine === null || its === null) {
    return false;
  }
  const [a, b] = [numbers(mine[1]), numbers(its[1])];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) {
      return difference > 0;
    }
  }
  // 0.1.0rc1 and 0.1.0.dev3 come before 0.1.0; 0.1.0.post1 and 0.1.0+local do not.
  return !early(mine[2]) || early(its[2]);
}

function numbers(text = ""): number[] {
  return text.split(".").map(Number);
}

function early(rest = ""): boolean {
  return /^[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)/i.test(rest) || /\.dev\d*/i.test(rest);
}
