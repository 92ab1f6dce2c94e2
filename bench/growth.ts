import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Dialect } from "../src/store/statements.ts";
import { MissingDependency } from "./databases.ts";
import type { Stage } from "./figure.ts";
import { anyTask, createPoster, isListOf } from "./figures/calls.ts";
import { alternate, type Contender } from "./load.ts";
import { createLine, type Line } from "./report.ts";
import type { Seeded } from "./seed.ts";
import { startPlatform } from "./servers.ts";
import { median, roundSignificant } from "./statistics.ts";

const few = 10_000;
const many = 1_000_000;
const large = 10_000_000;
/** A task and an event with their indexes, and as much again for the log of the database. */
const bytesEach = 3_000;

const concurrency = 16;
const rounds = { rounds: 9, ms: 500, warmUpMs: 1_500, concurrency };
/** One slot for runs, which the first task occupies permanently. */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };

type Call = Parameters<typeof createPoster>[2];

/** The calls, on a database. Creates are last, because they add tasks. */
const callsOn = (database: Seeded): Readonly<Record<string, Call>> => ({
  "task.detail": {
    path: "/v2/task.detail",
    body: () => ({ task_id: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  },
  "task.list": {
    path: "/v2/task.list",
    body: () => ({ limit: 20 }),
    check: ({ data }) => isListOf(data, 20),
  },
  "task.listMessages": {
    path: "/v2/task.listMessages",
    body: () => ({ task_id: database.longTaskId, limit: 50 }),
    check: ({ messages }) => isListOf(messages, 50),
  },
  "task.create": {
    path: "/v2/task.create",
    body: () => ({ message: { content: "[[forever]]" } }),
    check: ({ task_id: id }) => id !== undefined,
  },
});

/** What to compare. */
export interface Growth {
  readonly dialects: readonly Dialect[];
  /** With 10,000,000 tasks instead of 1,000,000. */
  readonly isLarge: boolean;
}

/**
 * Compares calls of an installation with many tasks (`ours`) with the same calls of one with 10,000 tasks
 * (the floor). Each account has 1,000 tasks.
 *
 * @throws MissingDependency when the disk has too little room, or without PostgreSQL.
 */
export async function runGrowth(
  stage: Stage,
  { dialects, isLarge }: Growth,
  report: (line: Line) => void,
): Promise<void> {
  const rows = isLarge ? large : many;
  await checkRoom(tmpdir(), rows * dialects.length);
  for (const dialect of dialects) {
    const [big, little] = [await open(stage, dialect, rows), await open(stage, dialect, few)];
    for (const [name, ours] of Object.entries(big)) {
      const floor = little[name];
      if (floor === undefined) throw new Error(`no ${name} on the small installation`);
      report(await compare(`growth.${name}${dialect === "sqlite" ? "" : ".pg"}`, [ours, floor]));
    }
  }
}

async function open(
  { databases, stack }: Stage,
  dialect: Dialect,
  rows: number,
): Promise<Readonly<Record<string, Contender>>> {
  const database = await databases.seeded(dialect, rows);
  const server = stack.use(await startPlatform(database, busy));
  return Object.fromEntries(
    Object.entries(callsOn(database)).map(([name, call]) => [
      name,
      createPoster(`with ${rows} tasks`, server, call),
    ]),
  );
}

async function compare(figure: string, contenders: readonly [Contender, Contender]): Promise<Line> {
  const samples = await alternate(contenders, rounds);
  const [ours = [], floor = []] = samples;
  const growth = median(ours.map(({ p50 }, round) => p50 / (floor[round]?.p50 ?? Number.NaN)));
  return createLine(
    figure,
    { names: contenders.map(({ name }) => name), samples },
    { p50_growth: roundSignificant(growth) },
  );
}

/** @throws MissingDependency when the folder's disk has too little room for this many tasks. */
export async function checkRoom(folder: string, rows: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [free, needed] = [(bavail * bsize) / 1e9, (rows * bytesEach) / 1e9];
  if (free < needed)
    throw new MissingDependency(
      `${folder} has ${free.toFixed(1)} GB left, and ${rows} tasks need ${needed.toFixed(1)} GB`,
    );
}
