import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { wordsOf } from "../../src/core/tasks/search-tokens.ts";
import type { TaskOrder } from "../../src/core/tasks/task-page.ts";
import type { TaskFilter } from "../../src/core/tasks/task-rows.ts";
import { openStore } from "../../src/store/open.ts";
import type { Dialect } from "../../src/store/statements.ts";
import type { Figure, Stage } from "../figure.ts";
import { type Line, ratioOf } from "../report.ts";
import { seedFilters } from "../seed.ts";
import { median, roundSignificant } from "../statistics.ts";

const rounds = 9;
const callsPerRound = 9;
const limit = 20;

const filters: Readonly<Record<string, TaskFilter>> = {
  "status.rare": { status: "waiting" },
  "status.common": { status: "stopped" },
  "project.rare": { projectId: "rare" },
  "project.common": { projectId: "common" },
  "metadata.rare": { metadata: { ticket: "rare" } },
  "metadata.common": { metadata: { colour: "red" } },
  "word.rare": { words: wordsOf("rare") },
  "words.rare-and-common": { words: wordsOf("price rare") },
  "word.common": { words: wordsOf("common") },
};

/** Lists the first page of a filter, or counts its tasks by state; returns the milliseconds. */
type Call = (filter: TaskFilter, orderBy: TaskOrder | "counts") => Promise<number>;

async function openDatabase({ databases, stack }: Stage, dialect: Dialect, rows: number): Promise<Call> {
  const installed = await databases.empty(dialect);
  await seedFilters(installed, rows);
  const store = await openStore({
    databaseUrl: installed.databaseUrl,
    clock: systemClock,
    random: systemRandom,
  });
  stack.defer(() => store.close());
  return async (filter, orderBy) => {
    const startedAt = performance.now();
    if (orderBy === "counts") {
      await store.tasks.countByStatus(installed.owner, filter);
      return performance.now() - startedAt;
    }
    const { tasks } = await store.tasks.list(installed.owner, filter, { orderBy, order: "desc", limit });
    const ms = performance.now() - startedAt;
    if (tasks.length !== limit) throw new Error(`a page of ${tasks.length} tasks: ${JSON.stringify(filter)}`);
    return ms;
  };
}

async function medianOf(call: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < callsPerRound; n += 1) times.push(await call());
  return median(times);
}

/** Compares the largest size with the smallest, round by round. */
async function growth(
  figure: string,
  calls: readonly (() => Promise<number>)[],
  sizes: readonly number[],
): Promise<Line> {
  const measured: number[][] = calls.map(() => []);
  for (let round = -1; round < rounds; round += 1)
    for (const [index, call] of calls.entries()) {
      const ms = await medianOf(call);
      if (round >= 0) measured[index]?.push(ms);
    }
  const smallest = measured[0] ?? [];
  const largest = measured.at(-1) ?? [];
  const p50s = measured.map((times) => roundSignificant(median(times)));
  return {
    figure,
    ours: roundSignificant(1000 / (p50s.at(-1) ?? Number.NaN)),
    floor: roundSignificant(1000 / (p50s[0] ?? Number.NaN)),
    ...ratioOf(largest.map((ms, round) => ms / (smallest[round] ?? Number.NaN))),
    p50_ms: p50s.at(-1) ?? null,
    p99_ms: null,
    cpu_ms: null,
    ...Object.fromEntries(sizes.map((size, index) => [`p50_of_${size}_ms`, p50s[index]])),
  };
}

const figure = (dialect: Dialect, name: string): Figure => ({
  names: [name],
  async measure(stage) {
    const opened: Call[] = [];
    for (const size of stage.sizes) opened.push(await openDatabase(stage, dialect, size));
    const lines: Line[] = [];
    const add = async (title: string, filter: TaskFilter, orderBy: TaskOrder | "counts") => {
      const calls = opened.map((call) => () => call(filter, orderBy));
      lines.push({ ...(await growth(name, calls, stage.sizes)), filter: title, orderBy });
    };
    for (const [title, filter] of Object.entries(filters))
      for (const orderBy of ["createdAt", "updatedAt"] as const) await add(title, filter, orderBy);
    await add("status.rare", { status: "waiting" }, "waitingSince");
    await add("none", {}, "counts");
    return lines;
  },
});

/** First pages of 20 tasks by one filter, in the store: the time of many tasks, divided by that of few. */
export const filterFigures: readonly Figure[] = [
  figure("sqlite", "task.list.filters"),
  figure("postgresql", "task.list.filters.pg"),
];
