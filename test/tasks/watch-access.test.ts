import { beforeEach, describe, expect, test } from "vitest";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { type WatchWire, watchWires } from "../support/watcher.ts";
import { numbersUpTo, seqsOf, watchRig } from "./watch-rig.ts";

/** A watch checks its credential repeatedly (spec/decisions.md 17). */
const recheckMs = 5_000;

/** The error of a wire for a credential without access: the same as for a new call. */
const unauthenticated = (wire: WatchWire): string =>
  `${wire.startsWith("sse") ? "permission_denied" : "unauthenticated"}: Invalid or missing API key`;

describe.each(watchWires)("a watch over %s", (wire) => {
  const rig = watchRig();
  const revoke = ({ keyId }: Person) =>
    rig.service.store.change((tx) => tx.keys.revoke(keyId, rig.clock.now()));

  /** A colleague who watches a task without further events. */
  async function watching(expiresInMs?: number) {
    const bo = await rig.service.person({
      with: rig.ann,
      ...(expiresInMs ? { expiresAt: rig.clock.now() + expiresInMs } : {}),
    });
    const id = await rig.create(bo);
    const watch = rig.watch(wire, { taskId: id }, bo);
    await watch.until(2);
    await rig.untilQuiet();
    const isOpen = () => Promise.race([watch.end, rig.untilQuiet().then(() => "open")]);
    return { bo, id, watch, isOpen };
  }

  test("of a revoked key ends within 5 s without any event", async () => {
    const { bo, watch, isOpen } = await watching();
    await revoke(bo);
    expect(await isOpen()).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated(wire));
  });

  test("of a revoked key ends at the next event, before that is sent", async () => {
    const { bo, id, watch } = await watching();
    await revoke(bo);
    await rig.add(id);
    expect(await watch.end).toBe(unauthenticated(wire));
    expect(seqsOf(watch)).toEqual(numbersUpTo(2));
  });

  test("of a key that expires ends within 5 s of that", async () => {
    const { watch } = await watching(2 * recheckMs);
    await rig.clock.advance(recheckMs);
    await rig.untilQuiet();
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated(wire));
  });

  test("of a member who is no longer active ends within 5 s", async () => {
    const { bo, watch, isOpen } = await watching();
    await runDirectly(
      rig.db,
      `UPDATE membership SET status = 'inactive' WHERE account_id = '${bo.accountId}'`,
    );
    expect(await isOpen()).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated(wire));
  });

  test("of a valid key continues", async () => {
    const { id, watch, isOpen } = await watching();
    for (const _ of Array(10)) {
      await rig.clock.advance(60_000);
      await rig.untilQuiet();
    }
    expect(await isOpen()).toBe("open");
    await rig.add(id);
    await watch.until(3);
  });
});

describe("the limit of calls per minute", () => {
  const rig = watchRig("sqlite", { RATE_LIMITS: "0.02" });
  beforeEach(() => rig.clock.advance(60_000 - (rig.clock.now() % 60_000)));
  const left = (headers: Headers) => [headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")];

  test.each([
    "sse",
    "connect-json",
    "grpc",
  ] as const)("counts a watch over %s once, and never its credential checks", async (wire) => {
    const bo = await rig.service.person();
    const id = await rig.create(bo);
    const watch = rig.watch(wire, { taskId: id }, bo);
    await watch.until(2);
    for (const _ of [1, 2, 3]) {
      await rig.clock.advance(recheckMs);
      await rig.add(id);
      await rig.untilQuiet();
    }
    expect(left(await watch.headers)).toEqual(["2", "1"]);
    expect(left(await rig.watch("sse", { taskId: id }, bo).headers)).toEqual(["2", "0"]);
    const over = rig.watch(wire, { taskId: id }, bo);
    expect(await over.end).toMatch(
      /^(rate_limited|resource_exhausted): rate limit of 2 calls a minute for task\.watch exceeded( \(429\))?$/,
    );
  });

  test("does not count a watch with a revoked key as an unauthenticated call", async () => {
    const bo = await rig.service.person();
    const watch = rig.watch("sse", { taskId: await rig.create(bo) }, bo);
    await watch.until(2);
    await rig.service.store.change((tx) => tx.keys.revoke(bo.keyId, rig.clock.now()));
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated("sse"));
    const statusOfCall = async () => (await bo.v2("user.me")).status;
    expect([await statusOfCall(), await statusOfCall()]).toEqual([401, 429]);
  });
});
