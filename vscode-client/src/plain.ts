// Text of programs in VS Code's messages, where `[word](command:…)` is a button that runs a command, whoever wrote it.

/** The same to read, and no link in it. */
export function plain(text: string): string {
  return text.replace(/\]\((?=\s*[a-z][a-z0-9+.-]*:)/gi, "] (");
}
