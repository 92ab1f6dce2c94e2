import { once } from "node:events";
import { createServer } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { readiness } from "../../src/http/health.ts";
import { services } from "../../src/pipeline/services.ts";
import { describeOnOne, openTestStore, postgresTemplate, runOn } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { clientOf, rpcWires } from "../support/wires.ts";

const everyService = ["", ...services.map(({ typeName }) => typeName)];

async function probe(url: string): Promise<string> {
  const reply = await fetch(url);
  return `${reply.status} ${(await reply.text()).trim()}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** A service whose store can be replaced by a failing or silent one. */
async function serviceOver(
  ping: () => Promise<void>,
  options: Parameters<typeof openService>[0] = {},
): Promise<Service & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await openTestStore("sqlite"));
  const service = stack.use(
    await openService({
      idle: true,
      over: { store: { ...database.store, ping }, url: database.url },
      ...options,
    }),
  );
  return { ...service, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe.each(rpcWires)("grpc.health.v1 over %s", (wire) => {
  test("knows every service, and the server as a whole, without a credential", async () => {
    await using service = await openService({ idle: true });
    const health = clientOf(Health, wire, service.url, {});
    for (const name of everyService)
      expect([name, (await health.check({ service: name })).status]).toEqual([name, Status.SERVING]);
    const { statuses } = await health.list({});
    expect(Object.keys(statuses).toSorted()).toEqual(everyService.toSorted());
    expect(new Set(Object.values(statuses).map(({ status }) => status))).toEqual(new Set([Status.SERVING]));
  });

  test("reports unknown services as not found", async () => {
    await using service = await openService({ idle: true });
    const error = ConnectError.from(
      await clientOf(Health, wire, service.url, {})
        .check({ service: "no.such.Service" })
        .catch((thrown: unknown) => thrown),
    );
    expect(error.code).toBe(Code.NotFound);
  });

  test.each([
    ["", [Status.SERVING, Status.NOT_SERVING]],
    [ProjectService.typeName, [Status.SERVING, Status.NOT_SERVING]],
    ["no.such.Service", [Status.SERVICE_UNKNOWN]],
  ])("notifies watchers of %j when the drain begins, and ends there", async (name, statuses) => {
    await using service = await openService({ idle: true });
    const received: Status[] = [];
    let drained: Promise<void> | undefined;
    for await (const { status } of clientOf(Health, wire, service.url, {}).watch({ service: name })) {
      received.push(status);
      drained ??= service.drain();
    }
    await drained;
    expect(received).toEqual(statuses);
  });

  test("reports NOT_SERVING when the store does not answer", async () => {
    await using service = await serviceOver(() => Promise.reject(new Error("gone")));
    const health = clientOf(Health, wire, service.url, {});
    expect((await health.check({})).status).toBe(Status.NOT_SERVING);
    const enough = new AbortController();
    const watch = health.watch({}, { signal: enough.signal })[Symbol.asyncIterator]();
    expect((await watch.next()).value).toMatchObject({ status: Status.NOT_SERVING });
    enough.abort();
  });
});

describe("the probes", () => {
  test("report that the process is alive and accepts calls", async () => {
    await using service = await openService({ idle: true });
    expect(await probe(`${service.url}/livez`)).toBe("200 ok");
    expect(await probe(`${service.url}/readyz`)).toBe("200 ready");
  });

  test("report that it is alive but accepts no calls when the store fails", async () => {
    await using service = await serviceOver(() => Promise.reject(new Error("gone")));
    expect(await probe(`${service.url}/livez`)).toBe("200 ok");
    expect(await probe(`${service.url}/readyz`)).toBe("503 not ready");
  });

  test("report it after two seconds when the store does not answer", async () => {
    const clock = stillClock();
    const called = Promise.withResolvers<void>();
    const silent = () => {
      called.resolve();
      return new Promise<void>(() => undefined);
    };
    await using service = await serviceOver(silent, { clock });
    const ready = probe(`${service.url}/readyz`);
    await called.promise;
    await clock.advance(2000);
    expect(await ready).toBe("503 not ready");
    expect(await probe(`${service.url}/livez`)).toBe("200 ok");
  });

  describe("of a store that counts its writes", () => {
    function counting() {
      const clock = stillClock();
      const store = {
        writes: 0,
        answer: async (): Promise<void> => undefined,
        listeners: [] as (() => void)[],
      };
      const ping = () => {
        store.writes += 1;
        return store.answer();
      };
      const onAway = (listener: () => void) => void store.listeners.push(listener);
      const { checkReady } = readiness({
        ping,
        onAway,
        clock,
        leaving: new AbortController().signal,
        log: () => undefined,
      });
      return { clock, store, checkReady };
    }

    test("cause one in 15 seconds while they succeed, and one a second after a failure, however many requests arrive", async () => {
      const { clock, store, checkReady } = counting();
      expect(await Promise.all(Array.from({ length: 50 }, checkReady))).toEqual(Array(50).fill(true));
      await clock.advance(14_999);
      expect([await checkReady(), store.writes]).toEqual([true, 1]);
      store.answer = () => Promise.reject(new Error("gone"));
      await clock.advance(1);
      expect([await checkReady(), await checkReady(), store.writes]).toEqual([false, false, 2]);
      await clock.advance(1_000);
      expect([await checkReady(), store.writes]).toEqual([false, 3]);
    });

    test("cause one at a time while the store does not answer", async () => {
      const { clock, store, checkReady } = counting();
      store.answer = () => new Promise(() => undefined);
      for (let n = 0; n < 2; n += 1) {
        const silent = checkReady();
        await clock.advance(2_000);
        expect(await silent).toBe(false);
      }
      expect(store.writes).toBe(1);
    });

    test("fail after a change that found the database away or full, until a write succeeds", async () => {
      const { clock, store, checkReady } = counting();
      expect(await checkReady()).toBe(true);
      for (const listener of store.listeners) listener();
      expect([await checkReady(), store.writes]).toEqual([false, 1]);
      await clock.advance(1_000);
      expect([await checkReady(), store.writes]).toEqual([true, 2]);
      await clock.advance(14_999);
      expect([await checkReady(), store.writes]).toEqual([true, 2]);
    });
  });

  test("are logged with the cause while the process is not ready", async () => {
    await using service = await serviceOver(() => Promise.reject(new Error("gone")));
    expect(await probe(`${service.url}/readyz`)).toBe("503 not ready");
    expect(service.logged).toContainEqual({
      level: "error",
      text: "not ready: the database takes no writes",
      fields: { cause: expect.objectContaining({ message: "gone" }) },
    });
  });

  test("are on no other port unless ADMIN_PORT is set", async () => {
    const port = await freePort();
    await using service = await openService({ idle: true });
    expect(await probe(`${service.url}/livez`)).toBe("200 ok");
    await expect(probe(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
  });

  test("on ADMIN_PORT are the only routes, and report the drain until it is over", async () => {
    const port = await freePort();
    const admin = `http://127.0.0.1:${port}`;
    await using database = await openTestStore("sqlite");
    const called = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const list = async () => {
      called.resolve();
      await answer.promise;
      return [];
    };
    const store = storeWithFaults(database.store, "projects", () => ({ list }));
    await using service = await openService({
      idle: true,
      over: { store, url: database.url },
      env: { ADMIN_PORT: String(port), DRAIN_SECONDS: "60" },
    });
    const ann = await service.person();
    expect([await probe(`${admin}/livez`), await probe(`${admin}/readyz`)]).toEqual(["200 ok", "200 ready"]);
    expect(
      (await fetch(`${admin}/v2/project.list`, { method: "POST", headers: { "x-service-api-key": ann.key } }))
        .status,
    ).toBe(404);

    const held = ann.v2("project.list");
    await called.promise;
    const drained = service.drain();
    expect([await probe(`${admin}/livez`), await probe(`${admin}/readyz`)]).toEqual([
      "200 ok",
      "503 not ready",
    ]);
    answer.resolve();
    expect((await held).status).toBe(200);
    await drained;
    await expect(probe(`${admin}/livez`)).rejects.toThrow();
  });
});

describe.skipIf(postgresTemplate === undefined)("a worker", () => {
  test("has probes, health and browser streams, and accepts no calls", async () => {
    await using service = await openService({ database: "postgresql", env: { ROLE: "worker" } });
    const ann = await service.person();
    expect([await probe(`${service.url}/livez`), await probe(`${service.url}/readyz`)]).toEqual([
      "200 ok",
      "200 ready",
    ]);
    expect(Object.keys((await clientOf(Health, "grpc", service.url, {}).list({})).statuses)).toEqual([
      "",
      "browser.v2.BrowserService",
    ]);
    expect(
      (
        await fetch(`${service.url}/v2/project.list`, {
          method: "POST",
          headers: { "x-service-api-key": ann.key },
        })
      ).status,
    ).toBe(404);
    await expect(ann.client(ProjectService, "grpc").listProjects({})).rejects.toMatchObject({
      code: Code.Unimplemented,
    });
  });
});

describeOnOne("readiness", (kind) => {
  test("writes to the database, and leaves nothing", async () => {
    await using database = await openTestStore(kind);
    await database.store.ping();
    expect(await runDirectly(database, "SELECT key FROM setting WHERE key LIKE 'ping-%'")).toEqual([]);
  });

  test("fails where the database cannot be written", async () => {
    await using database = await openTestStore(kind);
    await runOn(database.url, "ALTER TABLE setting RENAME TO other_setting");
    await expect(database.store.ping()).rejects.toMatchObject({ name: "Failure" });
    await runOn(database.url, "ALTER TABLE other_setting RENAME TO setting");
    await database.store.ping();
  });
});
