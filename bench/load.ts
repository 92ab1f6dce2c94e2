import { cpuMsOf, cpuMsOfBackends } from "./process-usage.ts";
import { percentile } from "./statistics.ts";

/** A compared server: a call that checks its response, and the serving process. */
export interface Contender {
  /** The name in the report. */
  readonly name: string;
  readonly pid: number;
  /** Its database on PostgreSQL, whose backends count as its processor time. */
  readonly database?: string | undefined;
  call(): Promise<unknown>;
  /** Prepares the input of a round before its measured time. */
  prepare?(): Promise<void>;
  /** The number of concurrent callers, if it differs from the other contenders'. */
  readonly concurrency?: number;
}

/** The result of one round of a closed loop. Times are in milliseconds. */
export interface Sample {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** User and system time of the server's process per call, and of the backends of its database. */
  readonly cpu: number;
}

/** Runs `concurrency` callers for `ms`, each of which waits for its response before the next call. */
export async function sample(
  { pid, database, call, prepare }: Contender,
  concurrency: number,
  ms: number,
): Promise<Sample> {
  const used = () => cpuMsOf(pid) + (database === undefined ? 0 : cpuMsOfBackends(database));
  const times: number[] = [];
  await prepare?.();
  const cpu = used();
  const startedAt = performance.now();
  const caller = async () => {
    // At least one call, even if `ms` is short.
    do {
      const calledAt = performance.now();
      await call();
      times.push(performance.now() - calledAt);
    } while (performance.now() - startedAt < ms);
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  return {
    perSecond: times.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpu: (used() - cpu) / times.length,
  };
}

/** The number and the duration of rounds. */
export interface Rounds {
  readonly rounds: number;
  readonly ms: number;
  /** Before the first round. */
  readonly warmUpMs: number;
  readonly concurrency: number;
}

/**
 * Returns the samples of each contender by round. The order is reversed every second round, so that it
 * favours no contender.
 */
export async function alternate(
  contenders: readonly Contender[],
  { rounds, ms, warmUpMs, concurrency }: Rounds,
): Promise<Sample[][]> {
  const samples: Sample[][] = contenders.map(() => []);
  const measure = async (index: number, duration: number) => {
    const contender = contenders[index];
    if (contender) return sample(contender, contender.concurrency ?? concurrency, duration);
    throw new RangeError(`no contender ${index}`);
  };
  const order = contenders.map((_, index) => index);
  for (const index of order) await measure(index, warmUpMs);
  for (let round = 0; round < rounds; round += 1)
    for (const index of round % 2 === 0 ? order : order.toReversed())
      samples[index]?.push(await measure(index, ms));
  return samples;
}
