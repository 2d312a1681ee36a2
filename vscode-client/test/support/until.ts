// Waiting for what holds soon: asked again and again, never longer than a limit.

/** What any single thing may take on a busy machine. */
export const SECONDS = Number(process.env["GREENLOOP_TEST_PATIENCE"] ?? 40);

export type Maybe<T> = T | undefined | null | false;

/** What `holds` gives as soon as that is something; the error says what was seen last. */
export async function until<T>(
  what: string,
  holds: () => Maybe<T> | Promise<Maybe<T>>,
  seen: () => unknown = () => "",
  seconds = SECONDS,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await holds();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > end) {
      const last = seen();
      throw new Error(`no ${what}${last === "" ? "" : `; seen: ${JSON.stringify(last, null, 1)}`}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
