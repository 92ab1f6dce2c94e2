import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** How soon a full disk is noticed. */
const lookMs = 20;
/** SQLite's maximum number of pages. */
const unlimited = 4_294_967_294;

/** The used parts of a driver's connection. */
interface Connection {
  readonly open: boolean;
  pragma(text: string, options?: { readonly simple: boolean }): unknown;
}

type Prepare = (this: Connection, sql: string) => unknown;

const file = join(process.env["DATA_DIR"] ?? ".", "disk-full");
const adapter = createRequire(import.meta.url).resolve("@prisma/adapter-better-sqlite3");
// The driver's module, resolved like the adapter does; it has no types here.
const driver = createRequire(adapter)("better-sqlite3") as {
  readonly prototype: Connection & { prepare: Prepare; exec: Prepare };
};
const connections = new Map<Connection, boolean>();

/**
 * Loaded before a server: while the file exists, SQLite may not add a page,
 * on any connection, and itself reports SQLITE_FULL, as on a full disk.
 */
function limit(connection: Connection, full: boolean): void {
  if (!connection.open) return void connections.delete(connection);
  if (connections.get(connection) === full) return;
  connections.set(connection, full);
  connection.pragma(
    `max_page_count = ${full ? connection.pragma("page_count", { simple: true }) : unlimited}`,
  );
}

for (const method of ["prepare", "exec"] as const) {
  const real = driver.prototype[method];
  driver.prototype[method] = function known(sql) {
    if (!connections.has(this)) connections.set(this, false);
    return real.call(this, sql);
  };
}

setInterval(() => {
  const full = existsSync(file);
  for (const connection of connections.keys()) limit(connection, full);
}, lookMs).unref();
