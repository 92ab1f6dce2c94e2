import { PrismaPg } from "@prisma/adapter-pg";
import type { Dialect } from "../../src/store/statements.ts";
import type { Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import { cpuMsOf } from "../process-usage.ts";
import { type Server, startPlatform } from "../servers.ts";

/** CPU time (milliseconds) of the servers' processes, and of the database's. */
interface CpuTime {
  readonly server: number;
  readonly database: number;
}

/** What runs tasks: servers of the platform, or of another program. */
export interface Contender {
  readonly name: string;
  readonly processes: number;
  /** Runs one task to its end; `onCreated` is called when its creation is acknowledged. */
  run(index: number, onCreated: () => void): Promise<void>;
  cpuMs(): Promise<CpuTime>;
}

type Parts = Pick<Stage, "peers" | "databases">;
type Open = (stack: AsyncDisposableStack) => Promise<Contender | null>;

/**
 * The platform on each of the databases; on both of them also other programs with the same durability on
 * PostgreSQL.
 */
export const contendersOf = (parts: Parts, dialects: readonly Dialect[]): readonly Open[] => [
  ...dialects.flatMap((dialect) =>
    processCounts[dialect].map((processes) => platform(parts, dialect, processes)),
  ),
  ...(dialects.length > 1 ? ["pg-boss", "graphile-worker", "dbos"] : []).map((engine) => peer(parts, engine)),
];

const processCounts: Readonly<Record<Dialect, readonly number[]>> = { sqlite: [1], postgresql: [1, 2, 3] };

/** A step that is too much ends late, and is not refused. */
const limits = { QUEUE_DEPTH: "1000000", WATCH_LIMIT: "100000" };

const platform =
  ({ databases }: Parts, dialect: Dialect, processes: number): Open =>
  async (stack) => {
    const installed = await databases.empty(dialect);
    const servers: Server[] = [];
    for (let index = 0; index < processes; index += 1)
      servers.push(stack.use(await startPlatform(installed, limits)));
    return {
      name: `${dialect}.${processes}`,
      processes,
      async run(index, onCreated) {
        const server = servers[index % processes] as Server;
        const { task_id } = await server.post("/v2/task.create", { message: { content: "What is 12 * 4?" } });
        onCreated();
        const { task } = await server.post("/v2/task.detail", { task_id, wait_seconds: 30 });
        const { status } = task as { readonly status: string };
        if (status !== "stopped") throw new Error(`the task is ${status}`);
      },
      cpuMs: cpuOf(servers, installed, stack),
    };
  };

/**
 * A program of bench/peers/queue.mjs in one process. Its jobs do nothing, and it has no credentials, events
 * and audit.
 */
const peer =
  ({ peers, databases }: Parts, engine: string): Open =>
  async (stack) => {
    const installed = await databases.empty("postgresql");
    const server = stack.use(
      await peers.start("queue", {}, { ENGINE: engine, DATABASE_URL: installed.databaseUrl }),
    );
    if (server === null) return null;
    return {
      name: engine,
      processes: 1,
      async run(_index, onCreated) {
        const { id } = await server.post("/create", {});
        onCreated();
        await server.post("/wait", { id });
      },
      cpuMs: cpuOf([server], installed, stack),
    };
  };

/** PostgreSQL's processes are in `pg_stat_activity`; connections are kept, so their times only grow. */
function cpuOf(
  servers: readonly Server[],
  { databaseUrl }: Installed,
  stack: AsyncDisposableStack,
): () => Promise<CpuTime> {
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + cpuMsOf(pid), 0);
  const server = () => sum(servers.map(({ pid }) => pid));
  if (databaseUrl.startsWith("file:")) return async () => ({ server: server(), database: 0 });
  const connecting = new PrismaPg({ connectionString: databaseUrl, max: 1 }).connect();
  stack.defer(async () => (await connecting).dispose());
  const sql = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
  return async () => {
    const { rows } = await (await connecting).queryRaw({ sql, args: [], argTypes: [] });
    return { server: server(), database: sum(rows.map(([pid]) => Number(pid))) };
  };
}
