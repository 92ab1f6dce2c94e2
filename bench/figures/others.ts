import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../src/store/statements.ts";
import type { Figure, Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import { cpuMsOf } from "../process-usage.ts";
import type { Line } from "../report.ts";
import { seedOwnerTasks } from "../seed.ts";
import { type Server, startProbed } from "../servers.ts";
import { percentile, roundSignificant } from "../statistics.ts";

const tasks = 1_000_000;
/**
 * The other calls: as many at a time, each after a pause, so that they measure waits and not the capacity of
 * the process.
 */
const callers = 4;
const pauseMs = 5;
const aloneMs = 10_000;
const pageSize = 1_000;

/** The waits of other calls, and the delay of the event loop, in milliseconds. */
interface Waits {
  readonly callsP50: number;
  readonly callsP99: number;
  readonly loopP99: number;
}

/** Measures `task.detail` of other callers while some work runs. */
async function measureDuring(server: Server, taskId: string, work: () => Promise<unknown>): Promise<Waits> {
  const times: number[] = [];
  let isOver = false;
  await server.probe();
  const call = async () => {
    while (!isOver) {
      const calledAt = performance.now();
      await server.post("/v2/task.detail", { task_id: taskId });
      times.push(performance.now() - calledAt);
      await sleep(pauseMs);
    }
  };
  const calls = Array.from({ length: callers }, call);
  await work();
  isOver = true;
  await Promise.all(calls);
  const { loopDelayP99Ms } = await server.probe();
  const sorted = times.toSorted((a, b) => a - b);
  return { callsP50: percentile(sorted, 0.5), callsP99: percentile(sorted, 0.99), loopP99: loopDelayP99Ms };
}

/** Makes an archive of all tasks. */
async function makeArchive(server: Server, { owner }: Installed): Promise<void> {
  const { uid } = await server.post("/v2/enterprise.export.create", {
    user_id: owner.accountId,
    scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
  });
  for (;;) {
    const { record } = await server.post("/v2/enterprise.export.detail", { uid });
    const { status } = record as { readonly status: string }; // The specified response.
    if (status === "EXPORT_STATUS_COMPLETED") return;
    if (status === "EXPORT_STATUS_FAILED") throw new Error("the export failed");
    await sleep(200);
  }
}

/** Lists pages with their exact count, sequentially: first and last ones. */
async function listPages(server: Server, { owner }: Installed): Promise<void> {
  for (let page = 1; page <= 60; page += 1) {
    const body = {
      user: owner.accountId,
      page: page % 2 === 0 ? page : 900 + (page % 90),
      page_size: pageSize,
    };
    await server.post("/v2/enterprise.task.list", body);
  }
}

async function measure(name: string, dialect: Dialect, { databases, stack }: Stage): Promise<Line> {
  const installed = await databases.empty(dialect);
  const taskId = await seedOwnerTasks(installed, tasks, 1);
  const server = stack.use(await startProbed(installed));
  const alone = await measureDuring(server, taskId, () => sleep(aloneMs));
  const listing = await measureDuring(server, taskId, () => listPages(server, installed));
  const cpu = cpuMsOf(server.pid);
  const startedAt = performance.now();
  const archiving = await measureDuring(server, taskId, () => makeArchive(server, installed));
  const seconds = (performance.now() - startedAt) / 1000;
  const members = Object.entries({ alone, list: listing, archive: archiving }).flatMap(
    ([when, { callsP50, callsP99, loopP99 }]) => [
      [`${when}_calls_p50_ms`, roundSignificant(callsP50)],
      [`${when}_calls_p99_ms`, roundSignificant(callsP99)],
      [`${when}_loop_p99_ms`, roundSignificant(loopP99)],
    ],
  );
  const ratio = roundSignificant(alone.callsP99 / archiving.callsP99);
  return {
    figure: name,
    ours: roundSignificant(archiving.loopP99),
    floor: roundSignificant(alone.loopP99),
    ratio,
    spread: [ratio, ratio],
    p50_ms: roundSignificant(archiving.callsP50),
    p99_ms: roundSignificant(archiving.callsP99),
    cpu_ms: roundSignificant(cpuMsOf(server.pid) - cpu),
    unit: "ms of the event loop's delay, p99",
    floor_name: "the same process without an export",
    tasks,
    archive_seconds: roundSignificant(seconds),
    ...Object.fromEntries(members),
  };
}

const figure = (name: string, dialect: Dialect): Figure => ({
  names: [name],
  measure: async (stage) => [await measure(name, dialect, stage)],
});

/** Other calls while a million tasks are listed and exported. */
export const otherFigures: readonly Figure[] = [
  figure("export.others", "sqlite"),
  figure("export.others.pg", "postgresql"),
];
