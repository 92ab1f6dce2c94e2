import fs, { existsSync } from "node:fs";
import files from "node:fs/promises";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";
import { join } from "node:path";

/** The steps of a first start, in order. Its process can be killed before and after each. */
export const steps = ["file", "commit", "listen", "tell"] as const;

/**
 * Loaded before a server: kills its process with SIGKILL at the moment in KILL_AT, for instance
 * `before commit` or `after file`.
 */
const [when, step] = (process.env["KILL_AT"] ?? "").split(" ");
const path = join(process.env["DATA_DIR"] ?? ".", "first-key");

function pass(moment: "before" | "after", reached: (typeof steps)[number]): void {
  if (when === moment && step === reached) process.kill(process.pid, "SIGKILL");
}

const { rename } = files;
files.rename = async (from, to) => {
  if (to === path) pass("before", "file");
  await rename(from, to);
  if (to === path) pass("after", "file");
};
syncBuiltinESMExports();

interface Statement {
  run(...values: unknown[]): unknown;
}

/** The driver's module, resolved like the adapter does; it has no types here. */
const adapter = createRequire(import.meta.url).resolve("@prisma/adapter-better-sqlite3");
const driver = createRequire(adapter)("better-sqlite3") as {
  readonly prototype: { prepare(sql: string): Statement };
};
const { prepare } = driver.prototype;
driver.prototype.prepare = function prepared(sql) {
  const statement = prepare.call(this, sql);
  if (sql !== "COMMIT") return statement;
  const run = statement.run.bind(statement);
  // The relevant commit is the first after the file.
  statement.run = (...values) => {
    const counts = existsSync(path);
    if (counts) pass("before", "commit");
    const result = run(...values);
    if (counts) pass("after", "commit");
    return result;
  };
  return statement;
};

const { listen } = Server.prototype;
Server.prototype.listen = function listening(this: Server, ...given: Parameters<typeof listen>) {
  // The first call only tests the port.
  if (existsSync(path)) {
    pass("before", "listen");
    this.once("listening", () => pass("after", "listen"));
  }
  return listen.apply(this, given);
} as typeof listen;

const { writeSync } = fs;
fs.writeSync = ((fd: number, ...given: [Buffer]) => {
  if (fd === 1) pass("before", "tell");
  const written = writeSync(fd, ...given);
  if (fd === 1) pass("after", "tell");
  return written;
}) as typeof writeSync;
syncBuiltinESMExports();
