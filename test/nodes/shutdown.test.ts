import { describe, expect, vi } from "vitest";
import { openTestStore, postgresTemplate } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2 } from "../support/wires.ts";

const test = sampledTest(2);

/** A probe over a separate connection, as a load balancer sends it. */
async function probe(url: string): Promise<number> {
  const reply = await fetch(`${url}/readyz`, { headers: { connection: "close" } });
  await reply.text();
  return reply.status;
}

describe("a node behind a load balancer", () => {
  test("reports first that it is leaving, accepts calls for NOTICE_SECONDS, and then finishes its work", async () => {
    const clock = stillClock();
    await using database = await openTestStore("sqlite", { clock });
    const called = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const list = async () => {
      called.resolve();
      await answer.promise;
      return [];
    };
    const store = storeWithFaults(database.store, "projects", () => ({ list }));
    const env = { NOTICE_SECONDS: "10", DRAIN_SECONDS: "60" };
    await using service = await openService({ idle: true, clock, env, over: { store, url: database.url } });
    const ann = await service.person();
    const me = () =>
      callV2(service.url, "user.me", {}, { headers: { "x-service-api-key": ann.key, connection: "close" } });
    expect(await probe(service.url)).toBe(200);

    let over = false;
    const drained = service.drain().then(() => {
      over = true;
    });
    expect(await probe(service.url)).toBe(503);
    expect((await me()).status, "a call on a new connection").toBe(200);
    await clock.advance(9_999);
    expect([await probe(service.url), (await me()).status]).toEqual([503, 200]);

    const held = ann.v2("project.list");
    await called.promise;
    await clock.advance(1);
    // Connections on their way are accepted for some turns of the loop.
    const refused = () =>
      me().then(
        () => false,
        () => true,
      );
    await vi.waitUntil(refused, { timeout: 10_000, interval: 10 });
    expect(over, "a call is still under way").toBe(false);
    answer.resolve();
    expect((await held).status).toBe(200);
    await drained;
  });

  test("without NOTICE_SECONDS accepts no more calls from the start of the drain", async () => {
    const clock = stillClock();
    await using service = await openService({ idle: true, clock });
    await service.drain();
    await expect(probe(service.url)).rejects.toThrow();
  });

  test.skipIf(postgresTemplate === undefined)(
    "that only runs tasks gets no calls, and leaves at once",
    async () => {
      const clock = stillClock();
      await using service = await openService({
        database: "postgresql",
        clock,
        env: { ROLE: "worker", NOTICE_SECONDS: "10" },
      });
      await service.drain();
      expect(clock.monotonic()).toBe(0);
    },
  );
});
