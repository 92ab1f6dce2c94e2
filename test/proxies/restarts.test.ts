import { describe, expect, test } from "vitest";
import { eventually, installation, spawnServer } from "../faults/server.ts";
import { startLoad } from "../rolling/load.ts";
import { databaseUrl, postgresTemplate } from "../support/database.ts";
import { depth, seed } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { testMs } from "../support/patience.ts";
import { startGrpcLoad } from "./grpc-load.ts";
import { type ProxyName, proxyNames, startProxy } from "./proxies.ts";

const restarts = depth === "full" ? 20 : 2;
/** Calls between two restarts. */
const some = 20;
/** Longer than the checks of the proxies, and than they keep idle connections. */
const noticeSeconds = "2";

/** A slice has one of the proxies. */
const names = depth === "full" ? proxyNames : proxyNames.filter((_, nth) => nth === seed % proxyNames.length);

async function restartBehind(name: ProxyName): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await databaseUrl("postgresql"));
  const place = stack.use(
    installation({
      ...{
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        WATCH_LIMIT: "1000",
      },
      ...{ NOTICE_SECONDS: noticeSeconds, TRUST_PROXY: "x-forwarded-for" },
    }),
  );
  const ports: [number, number] = [await freePort(), await freePort()];
  const start = async (port: number) => {
    const life = spawnServer({ ...place.env, PORT: String(port) });
    stack.defer(() => void life.child.kill("SIGKILL"));
    await life.ready;
    return life;
  };
  const processes = [await start(ports[0]), await start(ports[1])];
  const proxy = stack.use(await startProxy(name, ports));
  const key = await place.key();
  const [load, grpc] = [startLoad(() => proxy.url, key), await startGrpcLoad(proxy.grpcUrl, key)];
  await load.more(some);
  for (let restart = 0; restart < restarts; restart += 1) {
    const nth = restart % 2;
    const old = processes[nth];
    old?.child.kill("SIGTERM");
    expect(await old?.ended, "the process drains").toBe(0);
    const life = await start(ports[nth] ?? 0);
    processes[nth] = life;
    await eventually("the proxy uses the new process", async () =>
      life.stderrText().includes('"operation":"task.'),
    );
    await load.more(some);
    const failed = [...load.stats.failed, ...grpc.stats.failed];
    console.info(
      `${name}, restart ${restart + 1}: ${load.stats.calls} calls, ${failed.length} failed ${failed[0] ?? ""}`,
    );
  }
  await grpc.end();
  const counts = await load.prove();
  const { calls, streams } = grpc.stats;
  console.info(`${name}: ${restarts} restarts, ${JSON.stringify({ ...counts, gRPC: { calls, streams } })}`);
  expect([...load.stats.failed, ...grpc.stats.failed], proxy.output()).toEqual([]);
  expect(streams, "streams of the old processes ended").toBeGreaterThan(1);
}

describe.skipIf(postgresTemplate === undefined || depth === "short")(
  "two processes that are restarted one by one",
  () => {
    for (const name of names)
      test.skipIf(lacks(name))(
        `lose no call and no event behind ${name}, with the file of deploy/proxy`,
        { timeout: testMs + restarts * 60_000 },
        () => restartBehind(name),
      );
  },
);
