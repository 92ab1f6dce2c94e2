import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";

/** A PostgreSQL server of our own, on a throw-away folder. */
export interface ScratchPostgres {
  /** The URL of one of its databases; `postgres` is there from the start. */
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** Ends the server, `fast` or at once as in a crash, unless it has ended by itself, and starts it again after `downMs`. */
  restart(how: "fast" | "immediate", downMs: number): Promise<void>;
  /** False once it has ended by itself. */
  lives(): boolean;
  /** Ends the server that was started here, and forgets its data. */
  stop(): Promise<void>;
}

/** Servers refuse to run as root: then they run as the account that the packages make. */
const serverAccount = "postgres";
const packages = "/usr/lib/postgresql";

/** On the loopback address only, and no more than tests and checks need. */
const modest = { listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: 200, autovacuum: "off" };

/** Nothing here is to survive a crash, and databases are made by the hundred. */
const careless = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: 0,
  wal_init_zero: "off",
};

/** How careful a server is, and where its folder is made. */
interface ScratchOptions {
  readonly fsync?: boolean;
  readonly parent?: string;
}

/**
 * Starts a server on a free port of the loopback address; undefined where PostgreSQL
 * is not installed. Nothing in it is meant to survive, so it does not sync unless told.
 */
export async function startPostgres({ fsync = false, parent = tmpdir() }: ScratchOptions = {}): Promise<ScratchPostgres | undefined> {
  const bin = postgresPrograms();
  if (bin === undefined) return undefined;
  const account = process.getuid?.() === 0 ? ids(serverAccount) : undefined;
  const folder = mkdtempSync(join(parent, "scratch-postgres-"));
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = { ...account, cwd: folder, env: { LC_ALL: "C" }, stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"] };
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"], options);
  const port = await freePort();
  const settings = { ...(fsync ? {} : careless), ...modest, port };
  const arguments_ = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const launch = () => launched(() => spawn(join(bin, "postgres"), ["-D", data, ...arguments_], options));
  let server = await launch();
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  return {
    url,
    async createDatabase(name) {
      const adapter = await new PrismaPg({ connectionString: url("postgres") }).connect();
      await adapter.executeScript(`CREATE DATABASE ${name}`).finally(() => adapter.dispose());
    },
    async restart(how, downMs) {
      server.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
      await server.gone;
      await delay(downMs);
      server = await launch();
    },
    lives: () => server.lives(),
    async stop() {
      server.kill("SIGINT");
      await server.gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server's process, which does not outlive this one. */
interface Launched {
  kill(signal: NodeJS.Signals): void;
  lives(): boolean;
  readonly gone: Promise<void>;
}

/** Resolves once it accepts connections. */
async function launched(start: () => ChildProcess): Promise<Launched> {
  const server = start();
  const kill = () => void server.kill("SIGKILL");
  process.once("exit", kill);
  let lives = true;
  const gone = new Promise<void>((resolve) => server.once("exit", () => resolve())).then(() => {
    lives = false;
    process.removeListener("exit", kill);
  });
  if (server.stderr) await ready(server.stderr);
  return { kill: (signal) => void server.kill(signal), lives: () => lives, gone };
}

/**
 * The folder of the programs of PostgreSQL's server: `POSTGRES_BIN`, or else the newest release below /usr/lib/postgresql;
 * undefined where there is none.
 */
export function postgresPrograms(): string | undefined {
  const given = process.env["POSTGRES_BIN"];
  if (given !== undefined) return existsSync(join(given, "initdb")) ? given : undefined;
  const releases = existsSync(packages) ? readdirSync(packages).toSorted((a, b) => Number(b) - Number(a)) : [];
  return releases.map((release) => join(packages, release, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

function ids(account: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, account], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}

/** Resolves at the server's line that says so; rejects with its log when it ends before. */
function ready(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    log.on("data", (chunk: Buffer) => {
      if (text.length < 10_000) text += chunk.toString();
      if (text.includes("ready to accept connections")) resolve();
    });
    log.once("end", () => reject(new Error(`PostgreSQL did not start: ${text}`)));
  });
}
