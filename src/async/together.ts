/**
 * Waits until all have ended, so that nothing goes on after a failure. Statements that begin in one turn of the event loop are one
 * round trip to PostgreSQL.
 *
 * @throws the failure of the first one in the given order, whichever came first in time.
 */
export async function together<const P extends readonly Promise<unknown>[]>(
  ...started: P
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  await Promise.allSettled(started);
  return Promise.all(started);
}
