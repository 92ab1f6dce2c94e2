import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Figure, Stage } from "../figure.ts";
import { type ModelEndpoint, openModel } from "../model.ts";
import { cpuMsOf } from "../process-usage.ts";
import { ratioOf } from "../report.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { median, percentile, roundSignificant } from "../statistics.ts";
import { openWatchers, type Watchers } from "../watchers.ts";

const firstLetters = 100;
const watchersMax = 1_000;
const rounds = 3;
/** An answer of 5 s: parts of a text are sent at most every 50 ms. */
const pieces = 100;
const pauseMs = 50;

/** The platform with a model agent, whose model is in this process. */
interface Writing {
  readonly server: Server;
  readonly model: ModelEndpoint;
  readonly key: string;
}

/** What the watchers of one text cost a server. */
interface Cost {
  /** CPU-ms for each delta and watcher, without what the text costs with one watcher. */
  readonly cpuMs: number;
  readonly deltas: number;
  readonly delays: readonly number[];
}

async function startWriting({ databases, stack }: Stage): Promise<Writing> {
  const database = await databases.empty("sqlite");
  const model = stack.use(await openModel());
  const folder = mkdtempSync(join(tmpdir(), "bench-model-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    api: "openai",
    base_url: model.baseUrl,
    model: "bench",
    context_tokens: 32_000,
    max_output_tokens: 4_000,
  };
  writeFileSync(join(folder, "models.json"), JSON.stringify({ bench: settings }));
  const env = {
    MODELS_FILE: join(folder, "models.json"),
    AGENT_PROFILES: "manus-1.6=model:bench",
    WATCH_LIMIT: "100000",
  };
  return { server: stack.use(await startPlatform(database, env)), model, key: database.key };
}

/** A task whose model waits before its answer, and watchers of it. */
async function beginText({ server, model, key }: Writing, count: number) {
  const { task_id } = await server.post("/v2/task.create", { message: { content: "Write" } });
  await model.asked();
  const taskId = String(task_id);
  const watchers = await watch(server, taskId, count, { path: "/v2/task.watch", key });
  return { taskId, watchers };
}

const watch = (
  server: Server,
  taskId: string,
  count: number,
  how: { readonly path: string; readonly key: string },
): Promise<Watchers> =>
  openWatchers(
    server.port,
    Array.from({ length: count }, () => taskId),
    { ...how, query: "&deltas=true" },
  );

/** Times from the model's first piece to the first delta at a watcher, one task after the other. */
async function firstLetterTimes(writing: Writing): Promise<readonly number[]> {
  const times: number[] = [];
  for (let count = 0; count < firstLetters; count += 1) {
    const { taskId, watchers } = await beginText(writing, 1);
    using _open = watchers;
    await writing.model.answer(1, 0, () => watchers.markStart(taskId));
    let delays: readonly number[] = [];
    for (; delays.length === 0; delays = watchers.takeDelays()) await sleep(1);
    times.push(delays[0] ?? 0);
    await writing.server.post("/v2/task.detail", { task_id: taskId, wait_seconds: 30 });
  }
  return times.toSorted((a, b) => a - b);
}

/** CPU-ms of a server while a text is written to watchers. */
async function cpuOfText(
  server: Server,
  taskId: string,
  watchers: Watchers,
  write: (sent: () => void) => Promise<void>,
) {
  await sleep(500);
  watchers.takeDelays();
  const [events, cpu] = [watchers.events(), cpuMsOf(server.pid)];
  await write(() => watchers.markStart(taskId));
  await sleep(500);
  return {
    cpuMs: cpuMsOf(server.pid) - cpu,
    received: watchers.events() - events,
    delays: watchers.takeDelays(),
  };
}

type Measure = (count: number) => Promise<Awaited<ReturnType<typeof cpuOfText>>>;

async function costOf(measure: Measure): Promise<Cost> {
  const [one, all] = [await measure(1), await measure(watchersMax)];
  return {
    cpuMs: (all.cpuMs - one.cpuMs) / all.received,
    deltas: all.received / watchersMax,
    delays: all.delays.toSorted((a, b) => a - b),
  };
}

const textOfModel =
  (writing: Writing): Measure =>
  async (count) => {
    const { taskId, watchers } = await beginText(writing, count);
    using _open = watchers;
    // Awaited here, because the watchers end with this function.
    return await cpuOfText(writing.server, taskId, watchers, (sent) =>
      writing.model.answer(pieces, pauseMs, sent),
    );
  };

const textOfFloor =
  (server: Server): Measure =>
  async (count) => {
    const taskId = `task${count}`;
    using watchers = await watch(server, taskId, count, { path: "/watch", key: "" });
    return await cpuOfText(server, taskId, watchers, async (sent) => {
      const startedAt = performance.now();
      for (let piece = 0; piece < pieces; piece += 1) {
        await sleep(Math.max(0, startedAt + piece * pauseMs - performance.now()));
        sent();
        await server.post("/say", { task_id: taskId });
      }
    });
  };

/** Text of a model that a thousand watchers of one task see while it is written. */
export const deltaFigure: Figure = {
  names: ["watch.deltas"],
  async measure(stage) {
    const writing = await startWriting(stage);
    const floorServer = stage.stack.use(await startFloor("sse"));
    const first = await firstLetterTimes(writing);
    const [ours, floor]: [Cost[], Cost[]] = [[], []];
    for (let count = 0; count < rounds; count += 1) {
      const measures = [
        async () => ours.push(await costOf(textOfModel(writing))),
        async () => floor.push(await costOf(textOfFloor(floorServer))),
      ];
      for (const measure of count % 2 === 0 ? measures : measures.toReversed()) await measure();
    }
    const middle = (costs: readonly Cost[], pick: (cost: Cost) => number) =>
      roundSignificant(median(costs.map(pick)));
    const cpu = ({ cpuMs }: Cost) => cpuMs;
    return [
      {
        figure: "watch.deltas",
        ours: middle(ours, cpu),
        floor: middle(floor, cpu),
        unit: "CPU-ms for a delta and watcher",
        ...ratioOf(ours.map((cost, index) => cost.cpuMs / (floor[index]?.cpuMs ?? Number.NaN))),
        p50_ms: roundSignificant(percentile(first, 0.5)),
        p99_ms: roundSignificant(percentile(first, 0.99)),
        cpu_ms: middle(ours, cpu),
        floor_name: "node:http SSE",
        watchers: watchersMax,
        deltas: middle(ours, ({ deltas }) => deltas),
        floor_deltas: middle(floor, ({ deltas }) => deltas),
        all_p50_ms: middle(ours, ({ delays }) => percentile(delays, 0.5)),
        all_p99_ms: middle(ours, ({ delays }) => percentile(delays, 0.99)),
        floor_all_p50_ms: middle(floor, ({ delays }) => percentile(delays, 0.5)),
        floor_all_p99_ms: middle(floor, ({ delays }) => percentile(delays, 0.99)),
      },
    ];
  },
};
