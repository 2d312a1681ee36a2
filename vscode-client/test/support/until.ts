// Polls for a condition, up to a time limit.

/** Limit for a single condition on a busy machine. */
export const TIMEOUT_SECONDS = Number(process.env["GREENLOOP_TEST_PATIENCE"] ?? 40);

export type Maybe<T> = T | undefined | null | false;

/** Waits until `condition` returns a value, and returns it; after the limit, the error includes `describeLast()`. */
export async function until<T>(
  description: string,
  condition: () => Maybe<T> | Promise<Maybe<T>>,
  describeLast: () => unknown = () => "",
  timeoutSeconds = TIMEOUT_SECONDS,
): Promise<T> {
  const end = Date.now() + timeoutSeconds * 1000;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > end) {
      const lastSeen = describeLast();
      throw new Error(`no ${description}${lastSeen === "" ? "" : `; seen: ${JSON.stringify(lastSeen, null, 1)}`}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
