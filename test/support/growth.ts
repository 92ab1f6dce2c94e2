/**
 * The growth factor of CPU time when the size of the work grows by 16: about 16 for linear time,
 * 256 for quadratic time. It measures CPU time instead of elapsed time, and takes the least of three tries,
 * so that a slow or busy machine changes it little.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  const least = async (of: number) => Math.min(await timeOf(work, of), await timeOf(work, of), await timeOf(work, of));
  await work(size);
  return (await least(size * 16)) / Math.max(await least(size), shortestMicros);
}

/** A bound above linear growth and below quadratic growth. */
export const linearGrowth = 64;

/** Below a millisecond the CPU clock is inaccurate. */
const shortestMicros = 1_000;

/** Microseconds of CPU time of this thread: other threads collect garbage, and end the work of other test files. */
async function timeOf(work: (size: number) => unknown, size: number): Promise<number> {
  const before = process.threadCpuUsage();
  await work(size);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
