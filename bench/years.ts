import { statSync } from "node:fs";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import { sealer } from "../src/core/audit/seal.ts";
import type { Clock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Retention } from "../src/core/retention/retention.ts";
import { shrink } from "../src/core/retention/shrink.ts";
import type { Store } from "../src/core/store.ts";
import { type RetainParts, retain } from "../src/core/use-cases/retain.ts";
import { pathOf } from "../src/store/backend.ts";
import { openStore } from "../src/store/open.ts";
import type { Dialect } from "../src/store/statements.ts";
import type { Finding } from "./endurance/finding.ts";
import type { Stage } from "./figure.ts";
import type { Installed } from "./installed.ts";
import { seedMore } from "./seed.ts";
import { percentile, roundSignificant } from "./statistics.ts";

/** An installation that runs for years, at a scale. */
export interface Years {
  readonly months: number;
  readonly tasksEach: number;
  /** Each has as many of the tasks. */
  readonly accounts: number;
  readonly eventsEach: number;
  readonly retention: Retention;
  /** Calls of task.list that are measured in a month. */
  readonly lists: number;
}

/** The end of a month, after its last pass of retention. */
export interface Month {
  readonly month: number;
  readonly tasks: number;
  readonly events: number;
  /** Of the database, without its log. */
  readonly bytes: number;
  readonly listP50Ms: number;
  readonly listP99Ms: number;
  /** How the database reads a list of tasks, without its costs. */
  readonly plans: readonly string[];
  /** How long the passes of the month took. */
  readonly passMs: number;
}

/** Half a year of tasks, a month of details, and the audit log of half a year. */
export const halfYear: Retention = {
  taskDays: 180,
  eventDays: 0,
  verboseEventDays: 30,
  auditDays: 180,
  usageDays: 0,
  archiveEventDays: 0,
};

const dayMs = 24 * 3_600_000;
const monthMs = 30 * dayMs;
/** The first month; the clock of the passes follows. */
const begin = Date.UTC(2024, 0, 1);

/**
 * Lives through the months: tasks arrive, and at the end of each month the clock is moved there and retention
 * runs.
 */
export async function* liveYears(installed: Installed, years: Years): AsyncGenerator<Month> {
  let now = begin;
  const clock: Clock = { now: () => now, monotonic: () => performance.now(), sleep: async () => undefined };
  const seen = new Set<string>();
  const store = await openStore({
    databaseUrl: installed.databaseUrl,
    clock,
    random: systemRandom,
    onStatement: (text) => void seen.add(text),
  });
  try {
    for (let month = 1; month <= years.months; month += 1) {
      const range = { first: (month - 1) * years.tasksEach, rows: years.tasksEach };
      const stepMs = Math.floor(monthMs / years.tasksEach);
      await seedMore(installed, {
        range,
        accounts: years.accounts,
        eventsEach: years.eventsEach,
        from: now,
        stepMs,
      });
      now = begin + month * monthMs;
      const startedAt = performance.now();
      await runPasses(store, clock, years.retention);
      const passMs = Math.round(performance.now() - startedAt);
      await vacuum(installed);
      seen.clear();
      const times = await listTimes(store, installed, years.lists);
      const plans = await plansOf(
        installed,
        [...seen].filter((text) => /FROM task\b/.test(text)),
      );
      const [tasks = 0, events = 0, bytes = 0] = await sizesOf(installed);
      yield { month, tasks, events, bytes, ...times, plans, passMs };
    }
  } finally {
    await store.close();
  }
}

const unexpected = () => Promise.reject(new Error("nothing is archived"));
/** Retention needs the files of the archive, which has none here. */
const archive: RetainParts["archive"] = {
  staging: { stage: unexpected, discard: unexpected },
  readSegment: unexpected,
  random: systemRandom,
  cipher: { seal: (text) => new Uint8Array(text) },
};

/** What processes do every hour and every day. */
async function runPasses(store: Store, clock: Clock, retention: Retention): Promise<void> {
  const { signal } = new AbortController();
  await sealer(store, clock)(signal);
  await retain.run(
    { store, clock, archive, ids: systemIds, config: { retention, deletedTaskDays: 0, webhookLogDays: 0 } },
    signal,
  );
  await sealer(store, clock)(signal);
  await shrink(store, clock, signal);
}

async function listTimes(store: Store, { owner }: Installed, calls: number) {
  const scope = { spaceId: owner.spaceId, accountId: owner.accountId };
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const startedAt = performance.now();
    const { tasks } = await store.tasks.list(scope, {}, { orderBy: "createdAt", order: "desc", limit: 20 });
    times.push(performance.now() - startedAt);
    if (tasks.length !== 20) throw new Error(`a list has ${tasks.length} tasks`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return {
    listP50Ms: roundSignificant(percentile(sorted, 0.5)),
    listP99Ms: roundSignificant(percentile(sorted, 0.99)),
  };
}

async function onConnection<T>(
  { databaseUrl }: Installed,
  work: (run: (sql: string) => Promise<readonly unknown[][]>) => Promise<T>,
): Promise<T> {
  const adapter = await (databaseUrl.startsWith("file:")
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl, max: 1 })
  ).connect();
  try {
    return await work(async (sql) => (await adapter.queryRaw({ sql, args: [], argTypes: [] })).rows);
  } finally {
    await adapter.dispose();
  }
}

/**
 * The temporary PostgreSQL does not vacuum in the background as a real one does; the log of SQLite is written
 * to its file.
 */
const vacuum = (installed: Installed): Promise<unknown> =>
  onConnection(installed, (run) =>
    run(installed.databaseUrl.startsWith("file:") ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM ANALYZE"),
  );

const sizesOf = (installed: Installed): Promise<readonly number[]> =>
  onConnection(installed, async (run) => {
    const count = async (table: string) => Number((await run(`SELECT COUNT(*) FROM ${table}`))[0]?.[0]);
    const isFile = installed.databaseUrl.startsWith("file:");
    const bytes = isFile
      ? statSync(pathOf(installed.databaseUrl)).size
      : Number((await run("SELECT pg_database_size(current_database())"))[0]?.[0]);
    return [await count("task"), await count("task_event"), bytes];
  });

/** The plans of statements for any values, because they run with many. */
const plansOf = (
  { databaseUrl, ...installed }: Installed,
  statements: readonly string[],
): Promise<readonly string[]> =>
  onConnection({ databaseUrl, ...installed }, async (run) => {
    const plans: string[] = [];
    for (const statement of statements) {
      const rows = databaseUrl.startsWith("file:")
        ? await run(`EXPLAIN QUERY PLAN ${statement.replaceAll("?", "NULL")}`)
        : await genericPlan(run, statement);
      plans.push(rows.map((row) => String(row.at(-1))).join("\n"));
    }
    return plans;
  });

async function genericPlan(
  run: (sql: string) => Promise<readonly unknown[][]>,
  statement: string,
): Promise<readonly unknown[][]> {
  const parameters = Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  await run("SET plan_cache_mode = force_generic_plan");
  await run(`PREPARE listed AS ${statement}`);
  const values = parameters === 0 ? "" : `(${Array.from({ length: parameters }, () => "NULL").join(", ")})`;
  const rows = await run(`EXPLAIN (COSTS OFF) EXECUTE listed${values}`);
  await run("DEALLOCATE listed");
  return rows;
}

/**
 * The months after which as much is removed as arrives: half a year, until the rows of its removal are old,
 * and one more.
 */
const steadyFrom = 13;

/**
 * Two years on each database. The last year is compared with its first month, and lists with those of the
 * first month.
 */
export async function runYears(
  { databases }: Stage,
  { tasksEach, dialects }: { readonly tasksEach: number; readonly dialects: readonly Dialect[] },
  report: (finding: Finding) => void,
  print: (text: string) => void,
): Promise<void> {
  for (const dialect of dialects) {
    const months: Month[] = [];
    const years = { months: 24, tasksEach, accounts: 50, eventsEach: 10, retention: halfYear, lists: 1_000 };
    for await (const month of liveYears(await databases.empty(dialect), years)) {
      months.push(month);
      print(`${dialect} month ${month.month}: ${JSON.stringify({ ...month, plans: undefined })}`);
    }
    for (const finding of findingsOf(dialect, months)) report({ ...finding, tasks_a_month: tasksEach });
  }
}

function findingsOf(dialect: string, months: readonly Month[]): readonly Finding[] {
  const last = months.filter(({ month }) => month >= steadyFrom);
  const [first, final] = [months[0], months.at(-1)];
  if (!first || !final) return [];
  const sizes = last.map(({ bytes }) => bytes);
  const plans = new Set(last.map((month) => month.plans.join("\n")));
  return [
    {
      figure: `years.${dialect}.disk`,
      ours: roundSignificant(Math.max(...sizes) / (sizes[0] ?? 1)),
      goal: 1.05,
      last_mb: roundSignificant(final.bytes / 2 ** 20),
    },
    {
      figure: `years.${dialect}.list.p99`,
      ours: roundSignificant(final.listP99Ms / first.listP99Ms),
      goal: 1.2,
      first_ms: first.listP99Ms,
      last_ms: final.listP99Ms,
    },
    { figure: `years.${dialect}.plans`, ours: plans.size - 1, goal: 0 },
    { figure: `years.${dialect}.pass`, ours: roundSignificant(final.passMs / 1000), unit: "s", goal: 3_600 },
  ];
}
