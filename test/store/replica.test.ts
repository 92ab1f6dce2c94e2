import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replica as doctorReplica } from "../../cli/server/doctor/database.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { unobserved } from "../../src/core/observe.ts";
import type { Store } from "../../src/core/store.ts";
import { openStore } from "../../src/store/open.ts";
import { openReplica } from "../../src/store/replica.ts";
import { sql } from "../../src/store/statements.ts";
import { postgresTemplate } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { type PostgresCluster, startCluster } from "../support/postgres-cluster.ts";
import { ann, putPeople, sampleTask } from "./samples.ts";

/** A process with its own store, and which servers its scans ran on. */
interface Process {
  readonly store: Store;
  /** The servers since the last call. */
  servers(): readonly string[];
}

/** Runs one statement on a server. */
async function rowsOn(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const standBy = `pg_basebackup --dbname="$PRIMARY_URL" --pgdata="$STANDBY_DATA" --checkpoint=fast --write-recovery-conf
pg_ctl --pgdata="$STANDBY_DATA" --options="-p $STANDBY_PORT" --log="$STANDBY_DATA/log" --wait start >/dev/null`;

describe.skipIf(postgresTemplate === undefined)("scans with a read replica (postgresql)", () => {
  let cluster: PostgresCluster;
  let readUrl: string;
  let env: Readonly<Record<string, string>>;
  const open: Store[] = [];

  beforeAll(async () => {
    cluster = await startCluster("wal_level = replica\nmax_wal_senders = 5\nfsync = off\n");
    const port = await freePort();
    env = { PRIMARY_URL: cluster.url, STANDBY_DATA: cluster.path("standby"), STANDBY_PORT: `${port}` };
    await cluster.shell(standBy, env);
    readUrl = Object.assign(new URL(cluster.url), { port }).href;
    const { store } = await openProcess();
    await putPeople(store);
  }, 120_000);
  afterAll(async () => {
    for (const store of open) await store.close();
    await cluster?.[Symbol.asyncDispose]();
  }, 60_000);

  async function openProcess(url = readUrl): Promise<Process> {
    let seen: string[] = [];
    const observe = { ...unobserved, scanned: (server: string) => void seen.push(server) };
    const options = { clock: systemClock, random: systemRandom, observe };
    const store = await openStore({ ...options, databaseUrl: cluster.url, readUrl: url });
    open.push(store);
    return {
      store,
      servers() {
        const last = seen;
        seen = [];
        return last;
      },
    };
  }

  let made = 0;
  async function create({ store }: Process): Promise<string> {
    made += 1;
    const id = `replica-${made}`;
    await store.change((tx) => tx.tasks.insert({ ...sampleTask(), id, metadata: { made: id } }, []));
    return id;
  }
  /** A search by the metadata of one task, which is a scan. */
  const find = async ({ store }: Process, id: string): Promise<readonly string[]> => {
    const { tasks } = await store.tasks.list(
      ann,
      { metadata: { made: id } },
      { orderBy: "createdAt", order: "desc", limit: 2 },
    );
    return tasks.map((task) => task.id);
  };
  const onStandby = (statement: string) => rowsOn(readUrl, statement);
  const servesScans = async (node: Process) => {
    await find(node, "none");
    return node.servers().includes("replica");
  };

  test("run on the standby", async () => {
    const counts = { pool: () => undefined, scanned: () => undefined };
    const reads: string[] = [];
    const primary = {
      async query({ text }: { readonly text: string }) {
        reads.push(text);
        return rowsOn(cluster.url, text);
      },
    };
    const replica = openReplica({
      readUrl,
      primary,
      clock: systemClock,
      onStatement: undefined,
      observe: counts,
    });
    // A standby that is still behind would be passed over.
    await expect.poll(async () => (await replica.state()).secondsBehind).toBe(0);
    reads.length = 0;
    expect(await replica.query(sql`SELECT pg_is_in_recovery() AS standby`)).toEqual([{ standby: true }]);
    expect(reads).toHaveLength(1);
    await replica.close();
  });

  test("see every change before them, of each process and after each acknowledgement", async () => {
    const nodes = await Promise.all([openProcess(), openProcess()]);
    const missing: string[] = [];
    const caller = async (n: number) => {
      for (let i = 0; i < sample(100, 15); i += 1) {
        const [writer, reader] = (n + i) % 2 === 0 ? nodes : nodes.toReversed();
        if (!(writer && reader)) throw new Error("two processes are open");
        const id = await create(writer);
        if (!(await find(reader, id)).includes(id)) missing.push(id);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, n) => caller(n)));
    expect(missing).toEqual([]);
    const servers = nodes.flatMap((node) => node.servers());
    expect(servers.filter((server) => server === "replica").length).toBeGreaterThan(0);
  });

  test("run on the primary while the standby does not replay, and on the standby again after that", async () => {
    const node = await openProcess();
    await onStandby("SELECT pg_wal_replay_pause()");
    for (let n = 0; n < 3; n += 1) {
      const id = await create(node);
      expect(await find(node, id)).toEqual([id]);
    }
    expect(node.servers()).not.toContain("replica");
    expect(await node.store.replica?.()).toMatchObject({ problem: null, secondsBehind: expect.any(Number) });
    await onStandby("SELECT pg_wal_replay_resume()");
    await expect.poll(() => servesScans(node), { timeout: 20_000 }).toBe(true);
    expect(await node.store.replica?.()).toEqual({ problem: null, secondsBehind: 0 });
  });

  test.each([
    { why: "accepts writes", url: () => cluster.url, problem: "is not a standby: it accepts writes" },
    {
      why: "has another database",
      url: () => readUrl.replace(/platform$/, "postgres"),
      problem: "is another database than platform",
    },
    {
      why: "does not answer",
      url: () => readUrl.replace(/:\d+\//, ":1/"),
      problem: /^cannot be compared with the primary: .*ECONNREFUSED/,
    },
  ])("run on the primary if the server of the address $why", async ({ url, problem }) => {
    const node = await openProcess(url());
    const id = await create(node);
    expect(await find(node, id)).toEqual([id]);
    expect(node.servers()).not.toContain("replica");
    const said = typeof problem === "string" ? problem : expect.stringMatching(problem);
    expect(await node.store.replica?.()).toMatchObject({ problem: said });
  });

  test("run on the primary if the standby cancels them, and the next one runs on the standby", async () => {
    const primary = { query: async ({ text }: { readonly text: string }) => rowsOn(cluster.url, text) };
    const seen: string[] = [];
    const observe = { pool: () => undefined, scanned: (server: string) => void seen.push(server) };
    const replica = openReplica({ readUrl, primary, clock: systemClock, onStatement: undefined, observe });
    const slow = replica.query(
      sql`SELECT pg_is_in_recovery() AS standby, CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END AS slept`,
    );
    const cancel =
      "SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE query LIKE '%AS slept' AND pid <> pg_backend_pid()";
    await expect.poll(() => onStandby(cancel)).toEqual([{ done: true }]);
    expect(await slow).toMatchObject([{ standby: false }]);
    expect(await replica.query(sql`SELECT pg_is_in_recovery() AS standby`)).toEqual([{ standby: true }]);
    expect(seen).toEqual(["primary", "replica"]);
    await replica.close();
  });

  test("are examined by atp doctor", async () => {
    const { signal } = new AbortController();
    const config = { databaseUrl: cluster.url, databaseReadUrl: readUrl };
    expect(await doctorReplica(config).run(signal)).toMatchObject([{ verdict: "ok" }]);
    expect(await doctorReplica({ ...config, databaseReadUrl: cluster.url }).run(signal)).toMatchObject([
      { verdict: "warn" },
    ]);
    expect(await doctorReplica({ ...config, databaseReadUrl: null }).run(signal)).toEqual([]);
  });

  test("run on the primary after the standby has died, and on the standby once it is back", async () => {
    const node = await openProcess();
    await expect.poll(() => servesScans(node), { timeout: 20_000 }).toBe(true);
    await cluster.crash(cluster.path("standby"));
    for (let n = 0; n < 3; n += 1) {
      const id = await create(node);
      expect(await find(node, id)).toEqual([id]);
    }
    expect(node.servers()).not.toContain("replica");
    await expect(node.store.ping()).resolves.toBeUndefined();
    await cluster.shell(
      'pg_ctl --pgdata="$STANDBY_DATA" --options="-p $STANDBY_PORT" --log="$STANDBY_DATA/log" --wait start >/dev/null',
      env,
    );
    await expect.poll(() => servesScans(node), { timeout: 30_000, interval: 500 }).toBe(true);
  });

  test("run on the new primary after a promotion of the standby", async () => {
    const node = await openProcess();
    await cluster.shell('pg_ctl --pgdata="$STANDBY_DATA" --wait promote >/dev/null', env);
    const id = await create(node);
    expect(await find(node, id)).toEqual([id]);
    expect(node.servers()).not.toContain("replica");
    expect(await node.store.replica?.()).toMatchObject({ problem: "is not a standby: it accepts writes" });
  });
});
