import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { postgresTemplate, rowsIn, runOn } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage } from "./page.ts";

/** An address that leads to a port, which can change. */
async function openAddress(first: number) {
  let port = first;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) sockets.add(socket.on("error", () => undefined));
    incoming.pipe(outgoing).on("close", () => incoming.destroy());
    outgoing.pipe(incoming).on("close", () => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port, // It listens on TCP.
    leadTo(other: number) {
      port = other;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const at = (url: string, port: number): string => Object.assign(new URL(url), { port }).href;

test.skipIf(postgresTemplate === undefined || depth === "short")(
  "the commands of docs/operate/failover.md promote a standby: calls get 503 in the meantime, and every acknowledged task is there and ends",
  { timeout: 120_000 },
  async () => {
    const [standBy = "", promote = ""] = blocksIn(readPage("docs/operate/failover.md"), "sh");
    await using cluster = await startCluster("wal_level = replica\nmax_wal_senders = 5\n");
    const standbyPort = await freePort();
    const env = {
      PRIMARY_URL: cluster.url,
      STANDBY_DATA: cluster.path("standby"),
      STANDBY_PORT: `${standbyPort}`,
    };
    await cluster.shell(standBy, env);
    await runOn(cluster.url, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'");
    await runOn(cluster.url, "SELECT pg_reload_conf()");
    await expect
      .poll(() => rowsIn(cluster.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'"), {
        timeout: 30_000,
      })
      .toHaveLength(1);

    using address = await openAddress(Number(new URL(cluster.url).port));
    const url = at(cluster.url, address.port);
    const store = await openStore({ databaseUrl: url, clock: systemClock, random: systemRandom });
    await using service = await openService({ over: { store, url } });
    await using _closing = { [Symbol.asyncDispose]: () => service.drain().then(() => store.close()) };
    const person = await service.person();
    const acknowledged: string[] = [];
    const create = async () => {
      const { status, body } = await person.v2("task.create", { message: { content: "[[say Done]]" } });
      if (status === 200) acknowledged.push(body["task_id"]);
      return status;
    };
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let status = 200; status === 200; ) status = await create();
      }),
    );
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await cluster.crash(cluster.data);
    await load;
    expect(await create()).toBe(503);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);

    await cluster.shell(promote, env);
    address.leadTo(standbyPort);
    await expect.poll(create, { timeout: 30_000 }).toBe(200);
    await expect
      .poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 30_000 })
      .toBe(200);
    const statusOf = async (task_id: string) =>
      (await person.v2("task.detail", { task_id })).body["task"]?.status;
    for (const id of acknowledged) await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe("stopped");
  },
);
