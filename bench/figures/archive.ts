import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createDeflateRaw } from "node:zlib";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type { Dialect } from "../../src/store/statements.ts";
import type { Figure, Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import { cpuMsOf, residentKbOf } from "../process-usage.ts";
import { type Line, ratioOf } from "../report.ts";
import { seedOwnerTasks } from "../seed.ts";
import { type Server, startPlatform } from "../servers.ts";
import { median, percentile, roundSignificant } from "../statistics.ts";

const tasks = 10_000;
const eventsEach = 20;
const rounds = 3;
/** The interval of other calls while an archive is built. */
const callEveryMs = 20;

/** The measurement of one archive, from the creating call to the poll that finds it complete. */
interface Measurement {
  readonly seconds: number;
  readonly cpuMs: number;
  /** The peak while it was built. */
  readonly residentMb: number;
  readonly archiveMb: number;
  /** The part of the peak that this archive added. */
  readonly riseMb: number;
  /** The durations of other calls in that time. */
  readonly callsMs: readonly number[];
}

/** The peak since it was reset (proc_pid_clear_refs(5)). */
const peakKbOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

async function buildArchive(server: Server, { owner }: Installed, taskId: string): Promise<Measurement> {
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const atRestKb = residentKbOf(server.pid);
  const [startedAt, cpu] = [performance.now(), cpuMsOf(server.pid)];
  const { uid } = await server.post("/v2/enterprise.export.create", {
    user_id: owner.accountId,
    scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
  });
  const callsMs: number[] = [];
  for (;;) {
    const calledAt = performance.now();
    await server.post("/v2/task.detail", { task_id: taskId });
    callsMs.push(performance.now() - calledAt);
    const { record } = await server.post("/v2/enterprise.export.detail", { uid });
    const { status, file_size } = record as { readonly status: string; readonly file_size?: number }; // The specified response.
    if (status === "EXPORT_STATUS_COMPLETED") {
      const seconds = (performance.now() - startedAt) / 1000;
      const residentMb = peakKbOf(server.pid) / 1024;
      return {
        riseMb: residentMb - atRestKb / 1024,
        seconds,
        cpuMs: cpuMsOf(server.pid) - cpu,
        residentMb,
        archiveMb: Number(file_size) / 1_000_000,
        callsMs,
      };
    }
    if (status === "EXPORT_STATUS_FAILED") throw new Error("the export failed");
    await sleep(callEveryMs);
  }
}

/**
 * The floor: the same rows, read by the driver and deflated to a file, without parsing JSON. No export can be
 * faster.
 */
async function floor({ databaseUrl, env }: Installed): Promise<number> {
  const factory = databaseUrl.startsWith("file:")
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl });
  const connection = await factory.connect();
  async function* pages() {
    for (let from = 0; from < tasks; from += 100) {
      const sql = `SELECT e.payload FROM (SELECT id FROM task WHERE type = 'standard' ORDER BY created_at, id LIMIT 100 OFFSET ${from}) t
        JOIN task_event e ON e.task_id = t.id`;
      const { rows } = await connection.queryRaw({ sql, args: [], argTypes: [] });
      yield Buffer.from(rows.map(([payload]) => String(payload)).join(",\n"));
    }
  }
  const startedAt = performance.now();
  await pipeline(
    Readable.from(pages()),
    createDeflateRaw(),
    createWriteStream(join(env["DATA_DIR"] ?? "", "floor.bin")),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await connection.dispose();
  return seconds;
}

async function measure(name: string, dialect: Dialect, { databases, stack }: Stage): Promise<Line> {
  const installed = await databases.empty(dialect);
  const taskId = await seedOwnerTasks(installed, tasks, eventsEach);
  const server = stack.use(await startPlatform(installed));
  const before = residentKbOf(server.pid) / 1024;
  const ours: Measurement[] = [];
  const floors: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await buildArchive(server, installed, taskId));
    floors.push(await floor(installed));
  }
  const middle = (pick: (measurement: Measurement) => number) => median(ours.map(pick));
  const calls = ours.flatMap(({ callsMs }) => callsMs).toSorted((a, b) => a - b);
  return {
    figure: name,
    ours: roundSignificant(1 / middle((measurement) => measurement.seconds)),
    floor: roundSignificant(1 / median(floors)),
    seconds: roundSignificant(middle((measurement) => measurement.seconds)),
    ...ratioOf(ours.map((measurement, round) => (floors[round] ?? 0) / measurement.seconds)),
    p50_ms: null,
    p99_ms: null,
    cpu_ms: roundSignificant(middle((measurement) => measurement.cpuMs)),
    unit: "archives a second",
    floor_name: "the driver's rows, deflated",
    tasks,
    events: tasks * eventsEach,
    archive_mb: roundSignificant(ours[0]?.archiveMb ?? 0),
    resident_mb: roundSignificant(Math.max(...ours.map(({ residentMb }) => residentMb))),
    resident_mb_before: roundSignificant(before),
    resident_mb_rises: ours.map(({ riseMb }) => roundSignificant(riseMb)),
    calls_p50_ms: roundSignificant(percentile(calls, 0.5)),
    calls_p99_ms: roundSignificant(percentile(calls, 0.99)),
  };
}

const figure = (name: string, dialect: Dialect): Figure => ({
  names: [name],
  measure: async (stage) => [await measure(name, dialect, stage)],
});

/** An archive of 10,000 tasks with 200,000 events. */
export const archiveFigures: readonly Figure[] = [
  figure("export.archive", "sqlite"),
  figure("export.archive.pg", "postgresql"),
];
