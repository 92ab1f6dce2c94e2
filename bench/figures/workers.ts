import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import { type Contender, sample } from "../load.ts";
import { type PollerPlan, type Pollers, remoteEnv, startPollers, workerKey } from "../pollers.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { percentile, roundSignificant } from "../statistics.ts";
import { createPoster } from "./calls.ts";
import { a2aRun, langgraphRun, taskRun } from "./run.ts";

const concurrency = 32;
const oneByOne: PollerPlan = { count: 8, maxRuns: 1 };
const batched: PollerPlan = { count: 2, maxRuns: 16 };
const pickups = 200;
const aloneMs = 1_500;

/**
 * Sequential tasks, with all workers idle: the times from the creating call to the response that assigns the
 * task to a worker.
 */
async function pickupTimes({ post }: Server, { pickedUp }: Pollers): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < pickups; n += 1) {
    const startedAt = performance.now();
    const { task_id } = await post("/v2/task.create", { message: { content: "What is 12 * 4?" } });
    times.push((await pickedUp(String(task_id))) - startedAt);
    await post("/v2/task.detail", { task_id, wait_seconds: 30 });
  }
  return times.toSorted((a, b) => a - b);
}

async function floor(
  { databases, stack }: Stage,
  dialect: Dialect,
  { maxRuns }: PollerPlan,
): Promise<Contender> {
  const { env } = await databases.empty(dialect);
  const server = stack.use(await startFloor("claims", { ...env, CLAIMS: String(maxRuns) }));
  const check = (answer: Readonly<Record<string, unknown>>) => answer["task_id"] !== undefined;
  return createPoster("the bare claim loop: insert, claim, finish", server, {
    path: "/run",
    body: () => ({}),
    check,
  });
}

function workerRun(name: string, dialect: Dialect, plan = oneByOne): Figure {
  let working: { readonly server: Server; readonly workers: Pollers } | undefined;
  return race({
    name,
    concurrency,
    async contenders(stage) {
      const installed = await stage.databases.empty(dialect);
      const key = await workerKey(installed);
      const server = stage.stack.use(await startPlatform(installed, remoteEnv));
      const workers = stage.stack.use(startPollers(server, key, plan));
      working = { server, workers };
      const peers =
        dialect === "sqlite" && plan === oneByOne ? [await a2aRun(stage), await langgraphRun(stage)] : [];
      return [taskRun(server), await floor(stage, dialect, plan), ...peers];
    },
    async more(_stage, contender) {
      const alone = await sample(contender, 1, aloneMs);
      const times = working ? await pickupTimes(working.server, working.workers) : [];
      return {
        alone_p50_ms: roundSignificant(alone.p50),
        pickup_p50_ms: roundSignificant(percentile(times, 0.5)),
        pickup_p99_ms: roundSignificant(percentile(times, 0.99)),
      };
    },
  });
}

/**
 * A task from its creation to its end, run by eight remote workers, or by two that take up to 16 runs by one
 * poll.
 */
export const workerFigures: readonly Figure[] = [
  workerRun("worker.run", "sqlite"),
  workerRun("worker.run.pg", "postgresql"),
  workerRun("worker.run.batched", "sqlite", batched),
  workerRun("worker.run.batched.pg", "postgresql", batched),
];
