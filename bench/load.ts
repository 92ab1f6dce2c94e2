import { cpuMsOf } from "./process-usage.ts";
import { percentile } from "./statistics.ts";

/** One of those that are compared: a call, checked by its answer, and the process that serves it. */
export interface Contender {
  /** As the report calls it. */
  readonly name: string;
  readonly pid: number;
  call(): Promise<unknown>;
  /** Before each round, outside its time: what its calls will use up. */
  prepare?(): Promise<void>;
  /** Callers at a time where they are not as many as the others'. */
  readonly concurrency?: number;
}

/** What one round of a closed loop showed. Times are milliseconds. */
export interface Sample {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** User and system time of the server's process, a call. */
  readonly cpu: number;
}

/** Calls as often as `concurrency` callers can in `ms`, each waiting for its answer. */
export async function sample({ pid, call, prepare }: Contender, concurrency: number, ms: number): Promise<Sample> {
  const times: number[] = [];
  await prepare?.();
  const cpu = cpuMsOf(pid);
  const began = performance.now();
  const caller = async () => {
    // At least once, however short the time.
    do {
      const at = performance.now();
      await call();
      times.push(performance.now() - at);
    } while (performance.now() - began < ms);
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const seconds = (performance.now() - began) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  return {
    perSecond: times.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpu: (cpuMsOf(pid) - cpu) / times.length,
  };
}

/** How long and how often. */
export interface Rounds {
  readonly rounds: number;
  readonly ms: number;
  /** Before the first round. */
  readonly warmUpMs: number;
  readonly concurrency: number;
}

/** The samples of each contender by round. The order turns about every second round, so that none profits from its place. */
export async function alternate(contenders: readonly Contender[], { rounds, ms, warmUpMs, concurrency }: Rounds): Promise<Sample[][]> {
  const samples: Sample[][] = contenders.map(() => []);
  const take = async (index: number, duration: number) => {
    const contender = contenders[index];
    if (contender) return sample(contender, contender.concurrency ?? concurrency, duration);
    throw new RangeError(`no contender ${index}`);
  };
  const order = contenders.map((_, index) => index);
  for (const index of order) await take(index, warmUpMs);
  for (let round = 0; round < rounds; round += 1)
    for (const index of round % 2 === 0 ? order : order.toReversed()) samples[index]?.push(await take(index, ms));
  return samples;
}
