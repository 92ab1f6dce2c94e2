import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { postgresPrograms } from "../../../scripts/scratch-postgres.ts";
import { type Daemon, startDaemon, withReplaced } from "../../support/daemon.ts";
import { freePort } from "../../support/free-port.ts";
import { hangMs } from "../../support/patience.ts";

/** What a kill ends: the server of the primary, or everything on its machine. */
export type Victim = "PostgreSQL" | "machine";

/**
 * Two PostgreSQL with automatic failover, by the files of deploy/failover, and the address that leads to the
 * primary.
 */
export interface Pair extends AsyncDisposable {
  /** The database `postgres` by HAProxy. */
  readonly url: string;
  /** Ends the primary by SIGKILL. A machine that was ended starts again when the other is the primary. */
  kill(victim: Victim): Promise<void>;
  /** Resolves when a standby follows the primary: synchronously, if that is set. */
  untilFollowed(): Promise<void>;
  /** Whether a commit waits for the standby; it does at first. */
  setSynchronous(isSynchronous: boolean): Promise<void>;
}

/** A machine with PostgreSQL and Patroni. */
interface Machine {
  readonly rest: number;
  readonly port: number;
  readonly folder: string;
  patroni: Daemon;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

export async function startPair(): Promise<Pair> {
  await using opened = new AsyncDisposableStack();
  const etcd = opened.use(await startEtcd());
  const ports = await Promise.all(Array.from({ length: 4 }, freePort));
  const places = [0, 1].map((i) => ({ rest: ports[i] ?? 0, port: ports[i + 2] ?? 0 }));
  const machines: Machine[] = [];
  const restarts: Promise<void>[] = [];
  let isOver = false;
  opened.defer(async () => {
    isOver = true;
    await Promise.all(restarts);
    for (const { patroni } of machines) patroni.signal("SIGKILL");
    for (const machine of machines) killPostgres(machine);
    await delay(200);
    for (const { patroni } of machines) await patroni[Symbol.asyncDispose]();
  });
  for (const [i, place] of places.entries()) {
    const patroni = await startPatroni(`db${i + 1}`, place, etcd.port);
    machines.push({ ...place, folder: patroni.folder, patroni });
  }
  const haproxy = opened.use(await startHaproxy(places));
  const members = async (): Promise<readonly Member[]> => {
    for (const { rest } of machines) {
      const reply = await fetch(`http://127.0.0.1:${rest}/cluster`).catch(() => null);
      if (reply?.ok) return ((await reply.json()) as { readonly members: readonly Member[] }).members;
    }
    return [];
  };
  let standby = "sync_standby";
  const untilFollowed = () =>
    until("a standby follows", async () => {
      const all = await members();
      return (
        all.some(({ role }) => role === "leader") &&
        all.some(({ role, state }) => role === standby && /running|streaming/.test(state))
      );
    });
  await untilFollowed();
  const closing = opened.move();
  return {
    url: `postgresql://postgres@127.0.0.1:${haproxy.port}/postgres`,
    untilFollowed,
    async kill(victim) {
      const leader = (await members()).findIndex(({ role }) => role === "leader");
      const names = (await members()).map(({ name }) => name);
      const machine = machines[Number(names[leader]?.slice(-1)) - 1];
      if (machine === undefined) throw new Error("there is no primary");
      if (victim === "machine") machine.patroni.signal("SIGKILL");
      killPostgres(machine);
      if (victim === "PostgreSQL") return;
      const others = machines.filter((each) => each !== machine);
      const restarted = until(
        "the other is the primary",
        async () => isOver || (await isPrimary(others)),
      ).then(async () => {
        if (!isOver) machine.patroni = await machine.patroni.restart();
      });
      restarts.push(
        restarted.catch((thrown: unknown) => console.error("a machine did not start again", thrown)),
      );
    },
    async setSynchronous(isSynchronous) {
      standby = isSynchronous ? "sync_standby" : "replica";
      const body = JSON.stringify({ synchronous_mode: isSynchronous });
      const reply = await fetch(`http://127.0.0.1:${machines[0]?.rest}/config`, { method: "PATCH", body });
      if (!reply.ok) throw new Error(`Patroni answered ${reply.status}: ${await reply.text()}`);
      await untilFollowed();
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

async function isPrimary(machines: readonly Machine[]): Promise<boolean> {
  for (const { rest } of machines)
    if ((await fetch(`http://127.0.0.1:${rest}/primary`).catch(() => null))?.ok) return true;
  return false;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await holds()); await delay(100))
    if (performance.now() - begun > hangMs) throw new Error(`${what}: it never did`);
}

/** Ends the server of a machine and all its processes, which end without their parent. */
function killPostgres({ folder }: Machine): void {
  try {
    process.kill(Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]), "SIGKILL");
  } catch {
    // It has not started, or has ended.
  }
}

const read = (name: string): string => readFileSync(`deploy/failover/${name}`, "utf8");

async function startEtcd(): Promise<Daemon & { readonly port: number }> {
  const [port, peers] = [await freePort(), await freePort()];
  const text = withReplaced(read("etcd.yml"), {
    "10.0.0.31:2379": `127.0.0.1:${port}`,
    "etcd1=http://10.0.0.31:2380,etcd2=http://10.0.0.32:2380,etcd3=http://10.0.0.33:2380": `etcd1=http://127.0.0.1:${peers}`,
    "http://10.0.0.31:2380": `http://127.0.0.1:${peers}`,
    "/var/lib/etcd/platform": "FOLDER/etcd",
  });
  return {
    ...(await startDaemon({
      files: { "etcd.yml": text },
      command: ["etcd", "--config-file", "FOLDER/etcd.yml"],
      port,
    })),
    port,
  };
}

async function startPatroni(
  name: string,
  { rest, port }: Pick<Machine, "rest" | "port">,
  etcd: number,
): Promise<Daemon> {
  const text = withReplaced(read("patroni.yml"), {
    "name: db1": `name: ${name}`,
    "10.0.0.21:8008": `127.0.0.1:${rest}`,
    "10.0.0.21:5432": `127.0.0.1:${port}`,
    "[10.0.0.31:2379, 10.0.0.32:2379, 10.0.0.33:2379]": `[127.0.0.1:${etcd}]`,
    "10.0.0.0/24 scram-sha-256": "127.0.0.1/32 trust",
    "auth-host: scram-sha-256": "auth-host: trust",
    "auth-local: peer": "auth-local: trust",
    "/var/lib/postgresql/15/platform": "FOLDER/data",
    "/var/lib/postgresql/.pgpass_patroni": "FOLDER/pgpass",
    "/var/run/postgresql": "FOLDER",
    "/usr/lib/postgresql/15/bin": postgresPrograms() ?? "",
  });
  return startDaemon({
    files: { "patroni.yml": text },
    command: ["patroni", "FOLDER/patroni.yml"],
    port: rest,
  });
}

async function startHaproxy(
  places: readonly Pick<Machine, "rest" | "port">[],
): Promise<Daemon & { readonly port: number }> {
  const port = await freePort();
  const servers = places.map((place, i) => [
    `10.0.0.2${i + 1}:5432 check port 8008`,
    `127.0.0.1:${place.port} check port ${place.rest}`,
  ]);
  const text = withReplaced(read("haproxy.cfg"), {
    "bind 127.0.0.1:5432": `bind 127.0.0.1:${port}`,
    ...Object.fromEntries(servers),
  });
  return {
    ...(await startDaemon({
      files: { "haproxy.cfg": text },
      command: ["haproxy", "-f", "FOLDER/haproxy.cfg"],
      port,
    })),
    port,
  };
}
