/**
 * How many times the processor time of a work grows when its size does by 16: about 16 where the time is in proportion
 * to the size, 256 where it goes with the square. Processor time is counted and not seconds, the least of three tries,
 * so that neither a slow machine nor its other work changes it much.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  const least = async (of: number) => Math.min(await timeOf(work, of), await timeOf(work, of), await timeOf(work, of));
  await work(size);
  return (await least(size * 16)) / Math.max(await least(size), shortestMicros);
}

/** What a growth in proportion to the size stays below, and one with the square does not. */
export const linearGrowth = 64;

/** Below a millisecond the clock of the processor says little. */
const shortestMicros = 1_000;

/** Microseconds of processor time. */
async function timeOf(work: (size: number) => unknown, size: number): Promise<number> {
  const before = process.cpuUsage();
  await work(size);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
