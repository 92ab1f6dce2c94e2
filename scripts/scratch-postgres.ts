import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/** A temporary PostgreSQL server in a temporary folder. */
export interface ScratchPostgres {
  /** The URL of one of its databases; `postgres` always exists. */
  url(database: string): string;
  /** Like `url`, over a Unix socket, where a statement costs a third less processor time. */
  socketUrl(database: string): string;
  createDatabase(name: string): Promise<void>;
  /**
   * Stops the server, `fast` or immediately as in a crash, unless it has already ended, and starts it again
   * after `downMs`.
   */
  restart(how: "fast" | "immediate", downMs: number): Promise<void>;
  /** False if it has ended. */
  isRunning(): boolean;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

/** Servers refuse to run as root: root starts them as the account that the packages create. */
const serverAccount = "postgres";
const packages = "/usr/lib/postgresql";

/** The longest orderly stop; then the server is ended at once. */
const stopMs = 30_000;

/** On the loopback address and a socket in its folder, with the capacity that tests and checks need. */
const baseSettings = { listen_addresses: "127.0.0.1", max_connections: 400 };

/** Data need not survive a crash, and tests create hundreds of small databases. */
const fastSettings = {
  autovacuum: "off",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: 0,
  wal_init_zero: "off",
};

/** The durability of a server, and the parent of its folder. */
interface ScratchOptions {
  readonly fsync?: boolean;
  readonly parent?: string;
}

/** The place of a server that is not started yet: its URLs are known, and its folder is empty. */
export interface PlannedPostgres extends Pick<ScratchPostgres, "url" | "socketUrl"> {
  start(): Promise<ScratchPostgres>;
  /** Deletes the folder of a server that was not started. */
  stop(): Promise<void>;
}

/** Starts a server that `planPostgres` has planned; undefined if PostgreSQL is not installed. */
export const startPostgres = async (options?: ScratchOptions): Promise<ScratchPostgres | undefined> =>
  (await planPostgres(options))?.start();

/**
 * Chooses a folder and a free port of the loopback address for a server. Returns undefined if PostgreSQL
 * is not installed. By default it neither syncs nor vacuums, because its data is temporary.
 */
export async function planPostgres({
  fsync = false,
  parent = tmpdir(),
}: ScratchOptions = {}): Promise<PlannedPostgres | undefined> {
  const bin = postgresPrograms();
  if (bin === undefined) return undefined;
  const place: Place = {
    bin,
    fsync,
    folder: mkdtempSync(join(parent, "scratch-postgres-")),
    port: await freePort(),
  };
  return {
    ...urlsOf(place),
    start: () => startIn(place),
    stop: async () => rmSync(place.folder, { recursive: true, force: true }),
  };
}

/** Where and how a server runs. */
interface Place extends Required<Pick<ScratchOptions, "fsync">> {
  readonly bin: string;
  readonly folder: string;
  readonly port: number;
}

function urlsOf({ port, folder }: Place): Pick<ScratchPostgres, "url" | "socketUrl"> {
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  return { url, socketUrl: (database) => `${url(database)}?host=${folder}` };
}

async function startIn(place: Place): Promise<ScratchPostgres> {
  const { bin, fsync, folder, port } = place;
  const account = accountOfServers();
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = {
    ...account,
    cwd: folder,
    env: { LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"],
  };
  const initial = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
  await promisify(execFile)(join(bin, "initdb"), initial, { ...account, cwd: folder, env: options.env });
  const settings = { ...(fsync ? {} : fastSettings), ...baseSettings, unix_socket_directories: folder, port };
  const serverArgs = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const launch = () => launchServer(() => spawn(join(bin, "postgres"), ["-D", data, ...serverArgs], options));
  let server = await launch();
  const urls = urlsOf(place);
  return {
    ...urls,
    async createDatabase(name) {
      const { PrismaPg } = await import("@prisma/adapter-pg");
      const adapter = await new PrismaPg({ connectionString: urls.url("postgres") }).connect();
      await adapter.executeScript(`CREATE DATABASE ${name}`).finally(() => adapter.dispose());
    },
    async restart(how, downMs) {
      server.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
      await server.exited;
      await delay(downMs);
      server = await launch();
    },
    isRunning: () => server.isRunning(),
    async stop() {
      server.kill("SIGINT");
      const slow = setTimeout(() => server.kill("SIGQUIT"), stopMs);
      await server.exited;
      clearTimeout(slow);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server's process; it ends with this process. */
interface ServerProcess {
  kill(signal: NodeJS.Signals): void;
  isRunning(): boolean;
  readonly exited: Promise<void>;
}

/** Starts a server; resolves when it accepts connections. */
async function launchServer(start: () => ChildProcess): Promise<ServerProcess> {
  const server = start();
  const kill = () => void server.kill("SIGKILL");
  process.once("exit", kill);
  let isRunning = true;
  const exited = new Promise<void>((resolve) => server.once("exit", () => resolve())).then(() => {
    isRunning = false;
    process.removeListener("exit", kill);
  });
  if (server.stderr) await untilReady(server.stderr);
  return { kill: (signal) => void server.kill(signal), isRunning: () => isRunning, exited };
}

/**
 * The folder of PostgreSQL's server programs: `POSTGRES_BIN`, or else the newest release in
 * /usr/lib/postgresql; undefined if there is none.
 */
export function postgresPrograms(): string | undefined {
  const configured = process.env["POSTGRES_BIN"];
  if (configured !== undefined) return existsSync(join(configured, "initdb")) ? configured : undefined;
  const releases = existsSync(packages)
    ? readdirSync(packages).toSorted((a, b) => Number(b) - Number(a))
    : [];
  return releases
    .map((release) => join(packages, release, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")));
}

/** The user and the group to start servers as; undefined: those of this process. */
export const accountOfServers = (): { readonly uid: number; readonly gid: number } | undefined =>
  process.getuid?.() === 0 ? ids(serverAccount) : undefined;

function ids(account: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, account], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/**
 * A port below those that the system gives to outgoing connections: while the server restarts, one of its
 * clients could get the server's port as its own.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...portRange);
    const probe = createServer();
    const isFree = await new Promise((resolve) =>
      probe.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)),
    );
    probe.close();
    if (isFree) return port;
  }
}

/** Above those of known services, below the range of Linux (net.ipv4.ip_local_port_range). */
const portRange = [20_000, 32_000] as const;

/** Characters of a server's log that are kept. */
const logMax = 10_000;

/** Resolves when the log reports readiness; rejects with the log if the server ends first. */
export function untilReady(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    log.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("ready to accept connections")) resolve();
      // Each client that connects during a recovery adds lines: only the end is kept.
      text = text.slice(-logMax);
    });
    log.once("end", () => reject(new Error(`PostgreSQL did not start: ${text}`)));
  });
}
