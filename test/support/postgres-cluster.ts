import { execFile } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { accountOfServers, postgresPrograms } from "../../scripts/scratch-postgres.ts";
import { freePort } from "./free-port.ts";

const run = promisify(execFile);

/**
 * A folder with servers of PostgreSQL that commands of a page make: for tests of replication and recovery.
 */
export interface PostgresCluster extends AsyncDisposable {
  /** The data folder of the primary. */
  readonly data: string;
  /** The database `platform` of the primary. */
  readonly url: string;
  path(name: string): string;
  /** Runs lines in a shell as the account of PostgreSQL, with its programs. */
  shell(lines: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Ends the server of a data folder, as a crash does. */
  crash(data: string): Promise<void>;
}

/**
 * @param settings lines of postgresql.conf of the primary, which get the folder of the cluster as `FOLDER`.
 */
export async function startCluster(
  settings: string,
  folders: readonly string[] = [],
): Promise<PostgresCluster> {
  const bin = postgresPrograms() ?? "";
  const account = accountOfServers();
  const folder = mkdtempSync(join(tmpdir(), "cluster-"));
  const path = (name: string) => join(folder, name);
  for (const name of folders) mkdirSync(path(name), { recursive: true });
  for (const name of ["", ...folders]) if (account) chownSync(path(name), account.uid, account.gid);
  const port = await freePort();
  const shell: PostgresCluster["shell"] = async (lines, env = {}) => {
    const options = {
      ...account,
      cwd: folder,
      env: { LC_ALL: "C", PATH: `${bin}${delimiter}${process.env["PATH"]}`, ...env },
    };
    return (await run("bash", ["-ec", lines], options)).stdout;
  };
  const started = [path("data")];
  const own = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 50\n`;
  await shell("initdb -D data -U postgres -A trust -E UTF8 --no-locale --no-sync >init.log");
  appendFileSync(path("data/postgresql.conf"), own + settings.replaceAll("FOLDER", folder));
  await shell(
    "pg_ctl -D data -l log --wait start >/dev/null && createdb -h 127.0.0.1 -U postgres -p $PORT platform",
    { PORT: `${port}` },
  );
  return {
    ...{ data: path("data"), url: `postgresql://postgres@127.0.0.1:${port}/platform`, path },
    async shell(lines, env) {
      for (const name of ["PGDATA", "STANDBY_DATA"]) started.push(...(env?.[name] ? [env[name]] : []));
      return shell(lines, env);
    },
    crash: async (data) =>
      void (await shell('pg_ctl -D "$DATA" --mode=immediate --wait stop >/dev/null', { DATA: data })),
    async [Symbol.asyncDispose]() {
      for (const data of new Set(started))
        await shell('pg_ctl -D "$DATA" --mode=immediate --wait stop || true', { DATA: data });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
