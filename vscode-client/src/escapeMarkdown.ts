// Escapes text for VS Code's messages, where `[word](command:…)` would become a link that runs a command.

/** Puts a space between text and address, which looks the same and is not a link. */
export function escapeLinks(text: string): string {
  return text.replace(/\]\((?=\s*[a-z][a-z0-9+.-]*:)/gi, "] (");
}
