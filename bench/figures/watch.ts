import { setTimeout as sleep } from "node:timers/promises";
import type { Figure, Stage } from "../figure.ts";
import { cpuMsOf, residentKbOf } from "../process-usage.ts";
import { type Line, ratioOf } from "../report.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { median, percentile, rounded } from "../statistics.ts";
import { openWatchers, type Watchers } from "../watchers.ts";

const watchersEach = 100;
const tasksWatched = 10;
const rounds = 3;
const settleMs = 2_500;
const measuredMs = 5_000;

/** A server that can be watched, and where. */
export interface Watched {
  readonly server: Server;
  readonly taskIds: readonly string[];
  readonly path: string;
  readonly key: string;
  /** Makes one event of a task, as a call. */
  say(taskId: string): Promise<unknown>;
}

/** What one server's watchers cost in one round. */
interface Cost {
  readonly kbEach: number;
  /** Of the watchers alone. */
  readonly cpuMsPerSecond: number;
  /** Of the calls that make the events, and a watcher of each task. */
  readonly callsCpuMsPerSecond: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from the call to the event. */
  readonly delays: readonly number[];
}

/** The platform with tasks that run for ever: one in the only slot, the others before it. A message makes one event. */
export async function watchedPlatform({ databases, stack }: Stage, start = startPlatform): Promise<Watched> {
  const database = await databases.empty("sqlite");
  const server = stack.use(await start(database, { RUN_CONCURRENCY: "1", WATCH_LIMIT: "100000" }));
  const taskIds: string[] = [];
  for (let count = 0; count < tasksWatched; count += 1) {
    const { task_id } = await server.post("/v2/task.create", { message: { content: "[[forever]]" } });
    taskIds.push(String(task_id));
  }
  const say = (taskId: string) => server.post("/v2/task.sendMessage", { task_id: taskId, message: { content: "Are you there?" } });
  return { server, taskIds, path: "/v2/task.watch", key: database.key, say };
}

async function watchedFloor({ stack }: Stage): Promise<Watched> {
  const server = stack.use(await startFloor("sse"));
  const taskIds = Array.from({ length: tasksWatched }, (_, index) => `task${index}`);
  return { server, taskIds, path: "/watch", key: "", say: (taskId) => server.post("/say", { task_id: taskId }) };
}

/** One event a second of each task, spread over the second; `said` is told of each. */
export async function talk({ taskIds, say }: Watched, ms: number, said: (taskId: string) => void): Promise<void> {
  const began = performance.now();
  const pause = 1_000 / taskIds.length;
  for (let count = 0; count * pause < ms; count += 1) {
    await sleep(Math.max(0, began + count * pause - performance.now()));
    const taskId = taskIds[count % taskIds.length] ?? "";
    said(taskId);
    await say(taskId);
  }
}

/** Opens watchers of every task in turn. */
export const watch = ({ server, taskIds, path, key }: Watched, count: number): Promise<Watchers> =>
  openWatchers(
    server.port,
    Array.from({ length: count }, (_, index) => taskIds[index % taskIds.length] ?? ""),
    { path, key },
  );

/** CPU-ms a second of the server while somebody talks for that long. */
async function cpuOfTalk(watched: Watched, ms: number, said: (taskId: string) => void = () => undefined): Promise<number> {
  const { pid } = watched.server;
  const [cpu, began] = [cpuMsOf(pid), performance.now()];
  await talk(watched, ms, said);
  return (cpuMsOf(pid) - cpu) / ((performance.now() - began) / 1000);
}

/** What the events cost by themselves is measured before, in the same process: ours are durable, the floor's are not. */
async function costOf(watched: Watched): Promise<Cost> {
  const { pid } = watched.server;
  let callsCpuMsPerSecond: number;
  {
    // What the first watchers load stays loaded, and is not theirs.
    using _few = await watch(watched, tasksWatched);
    await talk(watched, settleMs, () => undefined);
    callsCpuMsPerSecond = await cpuOfTalk(watched, measuredMs);
  }
  await sleep(settleMs);
  const before = residentKbOf(pid);
  using watchers = await watch(watched, watchersEach * tasksWatched);
  await talk(watched, settleMs, watchers.said);
  watchers.takeDelays();
  const [events, began] = [watchers.events(), performance.now()];
  const cpuMsPerSecond = (await cpuOfTalk(watched, measuredMs, watchers.said)) - callsCpuMsPerSecond;
  const eventsPerSecond = (watchers.events() - events) / ((performance.now() - began) / 1000);
  await sleep(settleMs);
  const kbEach = (residentKbOf(pid) - before) / (watchersEach * tasksWatched);
  return { cpuMsPerSecond, callsCpuMsPerSecond, eventsPerSecond, kbEach, delays: watchers.takeDelays() };
}

/** A process for each round, because memory that was once taken is seldom given back. */
async function round(stage: Stage, start: (stage: Stage) => Promise<Watched>): Promise<Cost> {
  await using stack = new AsyncDisposableStack();
  // Awaited here: what is started ends with this function.
  return await costOf(await start({ ...stage, stack }));
}

/** A thousand open streams with an event a second each. */
export const watchFigure: Figure = {
  names: ["watch.sse.memory", "watch.sse.cpu"],
  async measure(stage) {
    const ours: Cost[] = [];
    const floor: Cost[] = [];
    for (let count = 0; count < rounds; count += 1) {
      const both = [
        async () => ours.push(await round(stage, (own) => watchedPlatform(own))),
        async () => floor.push(await round(stage, watchedFloor)),
      ];
      for (const measure of count % 2 === 0 ? both : both.toReversed()) await measure();
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
      { ...compared("watch.sse.memory", ours, floor, ({ kbEach }) => kbEach), unit: "kB a watcher", ...shared },
      cpuLine(
        compared("watch.sse.cpu", ours, floor, ({ cpuMsPerSecond }) => cpuMsPerSecond),
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

function compared(figure: string, ours: readonly Cost[], floor: readonly Cost[], pick: (cost: Cost) => number): Line {
  const ratios = ours.map((cost, index) => pick(cost) / (floor[index] ? pick(floor[index]) : Number.NaN));
  return { figure, ours: middle(ours, pick), floor: middle(floor, pick), ...ratioOf(ratios), p50_ms: null, p99_ms: null, cpu_ms: null };
}

const middle = (costs: readonly Cost[], pick: (cost: Cost) => number): number => rounded(median(costs.map(pick)));

const delay = (costs: readonly Cost[], part: number): number =>
  middle(costs, ({ delays }) =>
    percentile(
      delays.toSorted((a, b) => a - b),
      part,
    ),
  );
