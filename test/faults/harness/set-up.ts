import { randomBytes } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import { type ScratchPostgres, startPostgres } from "../../../scripts/scratch-postgres.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { type Pair, startPair } from "./patroni.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import type { Timeline } from "./timeline.ts";

/** The two ways to run the service. */
export const setUpNames = ["sqlite", "postgresql"] as const;
export type SetUpName = (typeof setUpNames)[number];

/** A set-up with a standby, for failovers. */
export const withStandby = "failover";

/** A running service, with the access that its faults need. */
export interface SetUp extends AsyncDisposable {
  readonly name: SetUpName | typeof withStandby;
  readonly cluster: Cluster;
  /** The set-up with a standby only. */
  readonly pair?: Pair;
  /** PostgreSQL only. */
  readonly database?: Database;
}

/** A PostgreSQL server that faults may damage. */
export interface Database extends Pick<ScratchPostgres, "restart" | "isRunning"> {
  /** Cuts every connection of every process; returns their number. */
  cut(): Promise<number>;
  /** Undefined without permission to mount one. */
  readonly disk: SmallDisk | undefined;
}

/** SQLite with one process, or PostgreSQL with three. Undefined where PostgreSQL is not installed. */
export async function openSetUp(
  name: SetUp["name"],
  timeline: Timeline,
  settings: Settings = {},
): Promise<SetUp | undefined> {
  if (name === withStandby) return openPair(timeline, settings);
  if (name === "postgresql") return openPostgres(timeline, settings);
  const cluster = await startCluster([settings], timeline);
  return { name, cluster, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

/** Environment variables of all processes. */
type Settings = Readonly<Record<string, string>>;

const processes = 3;
/**
 * All processes get the notification at once, and the fastest claims the tasks: none may have capacity for
 * all of them.
 */
const room = { RUN_CONCURRENCY: "16" };

/** Starts all processes on one PostgreSQL. */
function startProcesses(databaseUrl: string, settings: Settings, timeline: Timeline): Promise<Cluster> {
  const env = {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    ...room,
    ...settings,
  };
  return startCluster(
    Array.from({ length: processes }, () => env),
    timeline,
  );
}

async function openPair(timeline: Timeline, settings: Settings): Promise<SetUp> {
  await using opened = new AsyncDisposableStack();
  const pair = opened.use(await startPair());
  const cluster = opened.use(await startProcesses(pair.url, settings, timeline));
  const closing = opened.move();
  return { name: withStandby, cluster, pair, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

async function openPostgres(timeline: Timeline, settings: Settings): Promise<SetUp | undefined> {
  await using opened = new AsyncDisposableStack();
  const disk = opened.use(mountSmallDisk() ?? null) ?? undefined;
  // Its commits must be on disk when they are acknowledged, as in production.
  const server = await startPostgres({ fsync: true, ...(disk ? { parent: disk.path } : {}) });
  if (server === undefined) return undefined;
  opened.defer(() => server.stop());
  await server.createDatabase("faults");
  const cluster = opened.use(await startProcesses(server.url("faults"), settings, timeline));
  const closing = opened.move();
  return {
    name: "postgresql",
    cluster,
    database: {
      restart: server.restart,
      isRunning: server.isRunning,
      cut: () => cutAll(server.url("postgres")),
      disk,
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const terminate =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

async function cutAll(url: string): Promise<number> {
  const adapter = await new PrismaPg({ connectionString: url, max: 1 }).connect();
  const { rows } = await adapter
    .queryRaw({ sql: terminate, args: [], argTypes: [] })
    .finally(() => adapter.dispose());
  return rows.length;
}
