import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "../figure.ts";
import { sample } from "../load.ts";
import { residentKbOf } from "../process-usage.ts";
import { type Server, startProbed } from "../servers.ts";
import { roundSignificant } from "../statistics.ts";
import type { Finding } from "./finding.ts";

const concurrency = 32;
const maximumMs = 10_000;

/** All calls of a client for one task. */
async function work({ post }: Server): Promise<void> {
  const { task_id } = await post("/v2/task.create", { message: { content: "What is 12 * 4?" } });
  await post("/v2/task.detail", { task_id, wait_seconds: 30 });
  await post("/v2/task.sendMessage", { task_id, message: { content: "And 13 * 4?" } });
  await post("/v2/task.detail", { task_id, wait_seconds: 30 });
  await post("/v2/task.listMessages", { task_id });
  await post("/v2/task.list", {});
}

/** Starts `perSecond` pieces of work per second, without waiting for earlier ones. */
async function pace(server: Server, perSecond: number, ms: number): Promise<void> {
  const startedAt = performance.now();
  const open = new Set<Promise<void>>();
  for (let count = 0; (count * 1000) / perSecond < ms; count += 1) {
    await sleep(Math.max(0, startedAt + (count * 1000) / perSecond - performance.now()));
    const piece = work(server).finally(() => open.delete(piece));
    open.add(piece);
  }
  await Promise.all(open);
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Mixed load at half of the capacity: measures growth of memory and handles, and the event loop's delay. */
export async function mixedLoad({ databases, stack }: Stage, minutes: number): Promise<readonly Finding[]> {
  const server = stack.use(await startProbed(await databases.empty("sqlite")));
  const { perSecond } = await sample(
    { name: "mixed", pid: server.pid, call: () => work(server) },
    concurrency,
    maximumMs,
  );
  const half = perSecond / 2;
  await pace(server, half, 60_000);
  const [first, firstKb] = [await server.probe(), residentKbOf(server.pid)];
  await pace(server, half, Math.max(1, minutes - 1) * 60_000);
  const [last, lastKb] = [await server.probe(), residentKbOf(server.pid)];
  const load = { pieces_per_second: roundSignificant(half), minutes };
  return [
    {
      figure: "endurance.rss.growth",
      ours: roundSignificant(lastKb / firstKb),
      goal: 1.1,
      first_mb: roundSignificant(firstKb / 1024),
      ...load,
    },
    {
      figure: "endurance.handles",
      ours: total(last.resources),
      goal: total(first.resources),
      before: first.resources,
      after: last.resources,
    },
    {
      figure: "endurance.loop.p99",
      ours: roundSignificant(last.loopDelayP99Ms),
      unit: "ms",
      goal: 50,
      ...load,
    },
  ];
}
