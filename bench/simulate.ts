// Simulates days of many people with more and more calls, until answers take too long, and checks what must
// hold after each.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import { systemClock } from "../src/core/clock.ts";
import { systemRandom } from "../src/core/ids.ts";
import { pathOf } from "../src/store/backend.ts";
import { openStore } from "../src/store/open.ts";
import { databasesIn } from "./databases.ts";
import type { Installed } from "./installed.ts";
import { type Server, startPlatform } from "./servers.ts";
import { arrivalsOf } from "./simulate/arrivals.ts";
import { type DayResult, runDay } from "./simulate/day.ts";
import { type Rows, type Violations, violationsIn } from "./simulate/invariants.ts";
import { addPeople, type Person } from "./simulate/people.ts";

/** The parameters of a simulation. */
export interface Simulation {
  readonly people: number;
  /** Calls per second at the peak of the first day; each day has twice as many. */
  readonly rate: number;
  readonly days: number;
  readonly seconds: number;
  readonly seed: number;
}

/** One simulated day, with what was wrong after it. */
export interface SimulatedDay extends DayResult {
  readonly peak: number;
  /** People who have ever acted. */
  readonly acting: number;
  readonly tasks: number;
  readonly violations: Violations;
}

/** A simulation ends before it has more than this. */
const tasksMax = 1_000_000;
const bytesMax = 10 * 2 ** 30;
/** A day is too much when a hundredth of its creates waits longer. */
const kneeMs = 1_000;

/** Whether the servers carried a day. */
export const carried = ({ failed, unanswered, p99Ms }: DayResult): boolean =>
  failed === 0 && unanswered === 0 && p99Ms.create <= kneeMs;

/** Runs days until one is not carried, or the database is full. */
export async function* simulate(
  installed: Installed,
  servers: readonly Server[],
  simulation: Simulation,
): AsyncGenerator<SimulatedDay> {
  const store = await openStore({
    databaseUrl: installed.databaseUrl,
    clock: systemClock,
    random: systemRandom,
  });
  const people = new Map<number, Person>();
  let [messages, doubtful] = [0, 0];
  try {
    for (let day = 0; day < simulation.days; day += 1) {
      const peak = simulation.rate * 2 ** day;
      const arrivals = arrivalsOf({ ...simulation, peak, seed: simulation.seed + day });
      await addPeople(
        store,
        people,
        arrivals.map(({ person }) => person),
      );
      const result = await runDay(servers, people, arrivals);
      messages += result.messages;
      doubtful += result.failed + result.unanswered;
      const violations = await withRows(installed, (rows) =>
        violationsIn(rows, people.values(), messages, doubtful),
      );
      const tasks = [...people.values()].reduce((sum, person) => sum + person.tasks.length, 0);
      yield { ...result, peak, acting: people.size, tasks, violations };
      if (!carried(result) || tasks * 2 > tasksMax || sizeOf(installed) * 2 > bytesMax) return;
    }
  } finally {
    await store.close();
  }
}

const sizeOf = ({ databaseUrl }: Installed): number =>
  databaseUrl.startsWith("file:") ? statSync(pathOf(databaseUrl)).size : 0;

async function withRows<T>({ databaseUrl }: Installed, work: (rows: Rows) => Promise<T>): Promise<T> {
  const isFile = databaseUrl.startsWith("file:");
  const adapter = await (isFile
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl })
  ).connect();
  try {
    return await work(async (sql) => (await adapter.queryRaw({ sql, args: [], argTypes: [] })).rows);
  } finally {
    await adapter.dispose();
  }
}

const options = {
  database: { type: "string", default: "sqlite" },
  processes: { type: "string", default: "1" },
  people: { type: "string", default: "10000000" },
  rate: { type: "string", default: "25" },
  days: { type: "string", default: "10" },
  seconds: { type: "string", default: "60" },
  seed: { type: "string", default: "1" },
  json: { type: "boolean", default: false },
} as const;

const print = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.database !== "sqlite" && values.database !== "postgresql")
    throw new Error("--database must be sqlite or postgresql");
  const processes = Number(values.processes);
  if (values.database === "sqlite" && processes !== 1) throw new Error("--processes must be 1 on SQLite");
  const folder = mkdtempSync(join(tmpdir(), "simulate-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await using stack = new AsyncDisposableStack();
  const databases = stack.use(databasesIn(folder, print));
  const installed = await databases.empty(values.database);
  const servers: Server[] = [];
  for (let index = 0; index < processes; index += 1)
    servers.push(stack.use(await startPlatform(installed, { QUEUE_DEPTH: "1000000" })));
  const [people, rate, days, seconds, seed] = [
    values.people,
    values.rate,
    values.days,
    values.seconds,
    values.seed,
  ].map(Number) as [...[number, number, number, number, number]];
  let knee = 0;
  for await (const day of simulate(installed, servers, { people, rate, days, seconds, seed })) {
    if (carried(day)) knee = day.peak;
    print(JSON.stringify(day));
    if (values.json) process.stdout.write(`${JSON.stringify(day)}\n`);
    if (Object.values(day.violations).some((number) => number > 0)) process.exitCode = 1;
  }
  print(`carried up to ${knee} calls a second at the peak of a day (seed ${seed})`);
}

if (import.meta.main) await main();
