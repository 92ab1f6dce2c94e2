import { readFileSync } from "node:fs";
import { type Daemon, startDaemon, withReplaced } from "./daemon.ts";
import { freePort } from "./free-port.ts";

/** PgBouncer before a database, with the file of deploy/. */
export interface PgBouncer extends Daemon {
  /** Where it leads to. */
  readonly url: string;
}

/** @param more lines of its configuration, which replace those of the file. */
export async function startPgBouncer(
  databaseUrl: string,
  mode: "transaction" | "session" | "statement",
  more: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const { hostname, port, pathname, username } = new URL(databaseUrl);
  const own = await freePort();
  const text = withReplaced(readFileSync("deploy/pgbouncer/pgbouncer.ini", "utf8"), {
    "host=db.example.com port=5432 dbname=platform": `host=${hostname} port=${port} dbname=${pathname.slice(1)}`,
    "listen_port = 6432": `listen_port = ${own}`,
    "auth_type = scram-sha-256": "auth_type = trust",
    "/etc/pgbouncer/userlist.txt": "FOLDER/userlist.txt",
    "pool_mode = transaction": `pool_mode = ${mode}`,
    ...more,
  });
  const daemon = await startDaemon({
    files: { "pgbouncer.ini": text, "userlist.txt": `"${username}" ""\n` },
    command: ["pgbouncer", "FOLDER/pgbouncer.ini"],
    port: own,
  });
  return { ...daemon, url: `postgresql://${username}@127.0.0.1:${own}/platform` };
}
