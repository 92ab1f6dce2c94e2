import type { Dialect } from "../src/store/statements.ts";
import type { Finding } from "./endurance/finding.ts";
import type { Stage } from "./figure.ts";
import { type Contender, contendersOf } from "./open/contenders.ts";
import { openLoop } from "./open-loop.ts";
import { randomFrom } from "./simulate/arrivals.ts";
import { percentile, roundSignificant } from "./statistics.ts";

interface Rates {
  /** Tasks per second of the first step; each step has twice as many. */
  readonly rate: number;
  /** The length of a step. */
  readonly seconds: number;
}

interface OpenTest extends Rates {
  readonly dialects: readonly Dialect[];
}

/** A step is too much when a hundredth of its tasks ends later. */
const kneeMs = 1_000;
/** More than any contender carries on two cores. */
const rateMax = 10_000;
/**
 * Tasks for each process before the first step, so that its code is compiled and its connections are open,
 * and callers that run them.
 */
const warmUp = { tasks: 1_500, callers: 32 };

/** Planned times (milliseconds) of a Poisson process. */
export function plannedTimes({ rate, seconds }: Rates, random = randomFrom(rate)): number[] {
  const times: number[] = [];
  for (let at = 0; ; times.push(at)) {
    at += (-Math.log(1 - random()) / rate) * 1000;
    if (at >= seconds * 1000) return times;
  }
}

/**
 * Runs tasks from their creation to their end at fixed rates, each twice the last, until a contender does not
 * carry one.
 */
export async function runOpen(
  parts: Stage,
  { dialects, ...rates }: OpenTest,
  report: (finding: Finding) => void,
): Promise<void> {
  for (const open of contendersOf(parts, dialects)) {
    await using stack = new AsyncDisposableStack();
    const contender = await open(stack);
    if (contender === null) continue;
    await runAll(contender, warmUp.tasks * contender.processes);
    for (let rate = rates.rate; rate <= rateMax; rate *= 2) {
      const step = await runStep(contender, { ...rates, rate });
      report(step);
      if (step.ours > kneeMs || step.failed > 0 || step.unanswered > 0) break;
    }
  }
}

/** Runs tasks in a closed loop. */
async function runAll({ run }: Contender, tasks: number): Promise<void> {
  let next = 0;
  async function call(): Promise<void> {
    while (next < tasks) await run(next++, () => undefined);
  }
  await Promise.all(Array.from({ length: warmUp.callers }, call));
}

interface Step extends Finding {
  readonly failed: number;
  readonly unanswered: number;
}

/** All times count from the planned time of a task. */
async function runStep({ name, run, cpuMs }: Contender, rates: Rates): Promise<Step> {
  const planned = plannedTimes(rates);
  const [acknowledged, ended]: [number[], number[]] = [[], []];
  const errors: string[] = [];
  const before = await cpuMs();
  const startedAt = performance.now();
  const { unanswered, latestMs } = await openLoop(planned, async (index, elapsedMs) => {
    try {
      await run(index, () => acknowledged.push(elapsedMs()));
      ended.push(elapsedMs());
    } catch (thrown) {
      errors.push(String(thrown));
    }
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await cpuMs();
  const at = (times: readonly number[], part: number) =>
    roundSignificant(
      percentile(
        times.toSorted((a, b) => a - b),
        part,
      ),
    );
  const secondsPer1000 = (name: "server" | "database") =>
    roundSignificant((after[name] - before[name]) / Math.max(1, ended.length));
  const cpu = {
    cpu_s_per_1000: secondsPer1000("server"),
    database_cpu_s_per_1000: secondsPer1000("database"),
  };
  return {
    figure: `open.${name}`,
    rate: rates.rate,
    ours: at(ended, 0.99),
    unit: "ms to the end (p99)",
    goal: kneeMs,
    ended_per_s: roundSignificant(ended.length / seconds),
    tasks: planned.length,
    failed: errors.length,
    unanswered,
    late_ms: roundSignificant(latestMs),
    ended_p50_ms: at(ended, 0.5),
    created_p50_ms: at(acknowledged, 0.5),
    created_p99_ms: at(acknowledged, 0.99),
    ...cpu,
    core_hours_per_million: roundSignificant(
      ((cpu.cpu_s_per_1000 + cpu.database_cpu_s_per_1000) * 1000) / 3600,
    ),
    ...(errors[0] === undefined ? {} : { error: errors[0].slice(0, 200) }),
  };
}
