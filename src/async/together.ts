/**
 * Waits until all have ended, so that nothing continues after a failure. Statements that begin in one turn of
 * the event loop are one round trip to PostgreSQL.
 *
 * @throws the failure of the first one in the given order, also if another one failed earlier.
 */
export async function together<const P extends readonly Promise<unknown>[]>(
  ...started: P
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  await Promise.allSettled(started);
  return Promise.all(started);
}
