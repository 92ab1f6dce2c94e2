import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createDeflateRaw } from "node:zlib";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type { Dialect } from "../../src/store/session.ts";
import type { Figure, Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import { cpuMsOf, residentKbOf } from "../process-usage.ts";
import { type Line, ratioOf } from "../report.ts";
import { seedOwn } from "../seed.ts";
import { type Server, startPlatform } from "../servers.ts";
import { median, percentile, rounded } from "../statistics.ts";

const tasks = 10_000;
const eventsEach = 20;
const rounds = 3;
/** Another call, so often while an archive is made. */
const callEveryMs = 20;

/** One archive, from the call that asks for it to the poll that finds it. */
interface Made {
  readonly seconds: number;
  readonly cpuMs: number;
  /** At most, while it was made. */
  readonly residentMb: number;
  readonly archiveMb: number;
  /** Of that, by this archive. */
  readonly riseMb: number;
  /** Of other calls meanwhile. */
  readonly callsMs: readonly number[];
}

/** At most, since its peak was set back (proc_pid_clear_refs(5)). */
const peakKbOf = (pid: number): number => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

async function make(server: Server, { owner }: Installed, taskId: string): Promise<Made> {
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const atRestKb = residentKbOf(server.pid);
  const [began, cpu] = [performance.now(), cpuMsOf(server.pid)];
  const { uid } = await server.post("/v2/enterprise.export.create", { user_id: owner.accountId, scope: "ENTERPRISE_EXPORT_SCOPE_FULL" });
  const callsMs: number[] = [];
  for (;;) {
    const asked = performance.now();
    await server.post("/v2/task.detail", { task_id: taskId });
    callsMs.push(performance.now() - asked);
    const { record } = await server.post("/v2/enterprise.export.detail", { uid });
    const { status, file_size } = record as { readonly status: string; readonly file_size?: number }; // The contract's answer.
    if (status === "EXPORT_STATUS_COMPLETED") {
      const seconds = (performance.now() - began) / 1000;
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

/** The same rows, read by the driver and deflated to a file, without a word of JSON parsed: what no export can be faster than. */
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
  const began = performance.now();
  await pipeline(Readable.from(pages()), createDeflateRaw(), createWriteStream(join(env["DATA_DIR"] ?? "", "floor.bin")));
  const seconds = (performance.now() - began) / 1000;
  await connection.dispose();
  return seconds;
}

async function measure(name: string, dialect: Dialect, { databases, stack }: Stage): Promise<Line> {
  const installed = await databases.empty(dialect);
  const taskId = await seedOwn(installed, tasks, eventsEach);
  const server = stack.use(await startPlatform(installed));
  const before = residentKbOf(server.pid) / 1024;
  const ours: Made[] = [];
  const floors: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await make(server, installed, taskId));
    floors.push(await floor(installed));
  }
  const middle = (pick: (made: Made) => number) => median(ours.map(pick));
  const calls = ours.flatMap(({ callsMs }) => callsMs).toSorted((a, b) => a - b);
  return {
    figure: name,
    ours: rounded(1 / middle((made) => made.seconds)),
    floor: rounded(1 / median(floors)),
    seconds: rounded(middle((made) => made.seconds)),
    ...ratioOf(ours.map((made, round) => (floors[round] ?? 0) / made.seconds)),
    p50_ms: null,
    p99_ms: null,
    cpu_ms: rounded(middle((made) => made.cpuMs)),
    unit: "archives a second",
    floor_name: "the driver's rows, deflated",
    ...{ tasks, events: tasks * eventsEach, archive_mb: rounded(ours[0]?.archiveMb ?? 0) },
    resident_mb: rounded(Math.max(...ours.map(({ residentMb }) => residentMb))),
    resident_mb_before: rounded(before),
    resident_mb_rises: ours.map(({ riseMb }) => rounded(riseMb)),
    calls_p50_ms: rounded(percentile(calls, 0.5)),
    calls_p99_ms: rounded(percentile(calls, 0.99)),
  };
}

const figure = (name: string, dialect: Dialect): Figure => ({
  names: [name],
  measure: async (stage) => [await measure(name, dialect, stage)],
});

/** An archive of 10,000 tasks with 200,000 events. */
export const archiveFigures: readonly Figure[] = [figure("export.archive", "sqlite"), figure("export.archive.pg", "postgresql")];
