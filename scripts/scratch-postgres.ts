import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";

/** A PostgreSQL server of our own, on a throw-away folder. */
export interface ScratchPostgres {
  /** The URL of one of its databases; `postgres` is there from the start. */
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
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

/**
 * Starts a server on a free port of the loopback address; undefined where PostgreSQL
 * is not installed. Nothing in it is meant to survive, so it does not sync unless told.
 */
export async function startPostgres({ fsync = false }: { fsync?: boolean } = {}): Promise<ScratchPostgres | undefined> {
  const bin = binaries();
  if (bin === undefined) return undefined;
  const account = process.getuid?.() === 0 ? ids(serverAccount) : undefined;
  const folder = mkdtempSync(join(tmpdir(), "scratch-postgres-"));
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = { ...account, cwd: folder, env: { LC_ALL: "C" }, stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"] };
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"], options);
  const port = await freePort();
  const settings = { ...(fsync ? {} : careless), ...modest, port };
  const arguments_ = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...arguments_], options);
  process.once("exit", () => server.kill("SIGKILL"));
  const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  await ready(server.stderr);
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  return {
    url,
    async createDatabase(name) {
      const adapter = await new PrismaPg({ connectionString: url("postgres") }).connect();
      await adapter.executeScript(`CREATE DATABASE ${name}`).finally(() => adapter.dispose());
    },
    async stop() {
      server.kill("SIGINT");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The newest installed release's programs. */
function binaries(): string | undefined {
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
