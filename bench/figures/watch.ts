import { setTimeout as sleep } from "node:timers/promises";
import type { Figure, Stage } from "../figure.ts";
import { cpuMsOf, residentKbOf } from "../process-usage.ts";
import { type Line, ratioOf } from "../report.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { median, percentile, roundSignificant } from "../statistics.ts";
import { openWatchers, type Watchers } from "../watchers.ts";

const watchersEach = 100;
const tasksWatched = 10;
const rounds = 3;
const settleMs = 2_500;
const measuredMs = 5_000;

/** A server with watchable tasks. */
export interface Watched {
  readonly server: Server;
  readonly taskIds: readonly string[];
  readonly path: string;
  readonly key: string;
  /** Creates one event of a task with a call. */
  say(taskId: string): Promise<unknown>;
}

/** The cost of one server's watchers in one round. */
interface Cost {
  readonly kbEach: number;
  /** The watchers' part. */
  readonly cpuMsPerSecond: number;
  /** The part of the calls that create events, with one watcher per task. */
  readonly callsCpuMsPerSecond: number;
  readonly eventsPerSecond: number;
  /** The times from call to event in milliseconds. */
  readonly delays: readonly number[];
}

/**
 * The platform with endless tasks: one in the only slot, the others waiting for it. A message creates one
 * event.
 */
export async function startWatchedPlatform(
  { databases, stack }: Stage,
  start = startPlatform,
): Promise<Watched> {
  const database = await databases.empty("sqlite");
  const server = stack.use(await start(database, { RUN_CONCURRENCY: "1", WATCH_LIMIT: "100000" }));
  const taskIds: string[] = [];
  for (let count = 0; count < tasksWatched; count += 1) {
    const { task_id } = await server.post("/v2/task.create", { message: { content: "[[forever]]" } });
    taskIds.push(String(task_id));
  }
  const say = (taskId: string) =>
    server.post("/v2/task.sendMessage", { task_id: taskId, message: { content: "Are you there?" } });
  return { server, taskIds, path: "/v2/task.watch", key: database.key, say };
}

async function watchedFloor({ stack }: Stage): Promise<Watched> {
  const server = stack.use(await startFloor("sse"));
  const taskIds = Array.from({ length: tasksWatched }, (_, index) => `task${index}`);
  return {
    server,
    taskIds,
    path: "/watch",
    key: "",
    say: (taskId) => server.post("/say", { task_id: taskId }),
  };
}

/** Creates one event per second and task, spread over the second; calls `said` for each. */
export async function createEvents(
  { taskIds, say }: Watched,
  ms: number,
  said: (taskId: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  const pause = 1_000 / taskIds.length;
  for (let count = 0; count * pause < ms; count += 1) {
    await sleep(Math.max(0, startedAt + count * pause - performance.now()));
    const taskId = taskIds[count % taskIds.length] ?? "";
    said(taskId);
    await say(taskId);
  }
}

/** Opens watchers, distributed round-robin over the tasks. */
export const watch = ({ server, taskIds, path, key }: Watched, count: number): Promise<Watchers> =>
  openWatchers(
    server.port,
    Array.from({ length: count }, (_, index) => taskIds[index % taskIds.length] ?? ""),
    { path, key },
  );

/** The server's CPU time in milliseconds per second while events are created for `ms`. */
async function cpuOfTalk(
  watched: Watched,
  ms: number,
  said: (taskId: string) => void = () => undefined,
): Promise<number> {
  const { pid } = watched.server;
  const [cpu, startedAt] = [cpuMsOf(pid), performance.now()];
  await createEvents(watched, ms, said);
  return (cpuMsOf(pid) - cpu) / ((performance.now() - startedAt) / 1000);
}

/**
 * The cost of the events without watchers is measured first, in the same process: the platform's are durable,
 * the floor's are not.
 */
async function costOf(watched: Watched): Promise<Cost> {
  const { pid } = watched.server;
  let callsCpuMsPerSecond: number;
  {
    // Memory that the first watchers load once does not count.
    using _few = await watch(watched, tasksWatched);
    await createEvents(watched, settleMs, () => undefined);
    callsCpuMsPerSecond = await cpuOfTalk(watched, measuredMs);
  }
  await sleep(settleMs);
  const before = residentKbOf(pid);
  using watchers = await watch(watched, watchersEach * tasksWatched);
  await createEvents(watched, settleMs, watchers.markStart);
  watchers.takeDelays();
  const [events, startedAt] = [watchers.events(), performance.now()];
  const cpuMsPerSecond = (await cpuOfTalk(watched, measuredMs, watchers.markStart)) - callsCpuMsPerSecond;
  const eventsPerSecond = (watchers.events() - events) / ((performance.now() - startedAt) / 1000);
  await sleep(settleMs);
  const kbEach = (residentKbOf(pid) - before) / (watchersEach * tasksWatched);
  return { cpuMsPerSecond, callsCpuMsPerSecond, eventsPerSecond, kbEach, delays: watchers.takeDelays() };
}

/** A new process for each round, because processes seldom release memory. */
async function round(stage: Stage, start: (stage: Stage) => Promise<Watched>): Promise<Cost> {
  await using stack = new AsyncDisposableStack();
  // Awaited here, because the started servers end with this function.
  return await costOf(await start({ ...stage, stack }));
}

/** A thousand open streams, each with one event per second. */
export const watchFigure: Figure = {
  names: ["watch.sse.memory", "watch.sse.cpu"],
  async measure(stage) {
    const ours: Cost[] = [];
    const floor: Cost[] = [];
    for (let count = 0; count < rounds; count += 1) {
      const measures = [
        async () => ours.push(await round(stage, (roundStage) => startWatchedPlatform(roundStage))),
        async () => floor.push(await round(stage, watchedFloor)),
      ];
      for (const measure of count % 2 === 0 ? measures : measures.toReversed()) await measure();
    }
    const shared = {
      floor_name: "node:http SSE",
      watchers: watchersEach * tasksWatched,
      events_per_second: middle(ours, ({ eventsPerSecond }) => eventsPerSecond),
      floor_events_per_second: middle(floor, ({ eventsPerSecond }) => eventsPerSecond),
      calls_per_second: tasksWatched,
      calls_cpu_ms: middle(ours, ({ callsCpuMsPerSecond }) => callsCpuMsPerSecond),
      floor_calls_cpu_ms: middle(floor, ({ callsCpuMsPerSecond }) => callsCpuMsPerSecond),
    };
    const delays = {
      p50_ms: delay(ours, 0.5),
      p99_ms: delay(ours, 0.99),
      floor_p50_ms: delay(floor, 0.5),
      floor_p99_ms: delay(floor, 0.99),
    };
    return [
      {
        ...compareCosts("watch.sse.memory", ours, floor, ({ kbEach }) => kbEach),
        unit: "kB a watcher",
        ...shared,
      },
      cpuLine(
        compareCosts("watch.sse.cpu", ours, floor, ({ cpuMsPerSecond }) => cpuMsPerSecond),
        { ...delays, ...shared },
      ),
    ];
  },
};

const cpuLine = (line: Line, more: Readonly<Record<string, unknown>>): Line => ({
  ...line,
  cpu_ms: line.ours,
  unit: "CPU-ms a second",
  ...more,
});

function compareCosts(
  figure: string,
  ours: readonly Cost[],
  floor: readonly Cost[],
  pick: (cost: Cost) => number,
): Line {
  const ratios = ours.map((cost, index) => pick(cost) / (floor[index] ? pick(floor[index]) : Number.NaN));
  return {
    figure,
    ours: middle(ours, pick),
    floor: middle(floor, pick),
    ...ratioOf(ratios),
    p50_ms: null,
    p99_ms: null,
    cpu_ms: null,
  };
}

const middle = (costs: readonly Cost[], pick: (cost: Cost) => number): number =>
  roundSignificant(median(costs.map(pick)));

const delay = (costs: readonly Cost[], part: number): number =>
  middle(costs, ({ delays }) =>
    percentile(
      delays.toSorted((a, b) => a - b),
      part,
    ),
  );
