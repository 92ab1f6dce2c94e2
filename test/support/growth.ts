/**
 * The growth factor of CPU time when the size of the work grows by 16: about 16 for linear time, 256 for
 * quadratic time. It measures CPU time instead of elapsed time, and takes the least of three tries, or of
 * more while the growth is not linear, so that a slow or busy machine changes it little.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  await work(size);
  let [small, large] = [Infinity, Infinity];
  const repeated = async () => {
    for (let run = 0; run < repeats; run++) await work(size);
  };
  for (let round = 1; ; round++) {
    small = Math.min(small, (await timeOf(repeated)) / repeats);
    large = Math.min(large, await timeOf(() => work(size * 16)));
    const growth = large / Math.max(small, shortestMicros);
    if ((round >= 3 && growth < linearGrowth) || round === mostRounds) return growth;
  }
}

/** The clock of CPU time advances by milliseconds: one run of small work may seem to take no time. */
const repeats = 8;

/** The least of more times is closer to the work's own: a busy machine adds to some of them. */
const mostRounds = 12;

/** A bound above linear growth and below quadratic growth. */
export const linearGrowth = 64;

/** Below a millisecond the CPU clock is inaccurate. */
const shortestMicros = 1_000;

/**
 * Microseconds of CPU time of this thread: other threads collect garbage, and end the work of other test
 * files.
 */
async function timeOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
