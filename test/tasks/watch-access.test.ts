import { beforeEach, describe, expect, test } from "vitest";
import { directly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { type WatchWire, watchWires } from "../support/watcher.ts";
import { seqs, seqsOf, watchRig } from "./watch-rig.ts";

/** Whoever watches is asked for its credential again and again (contract/decisions.md 17). */
const recheckMs = 5_000;

/** How a wire says that a credential opens nothing any more: as it would to a new call. */
const shut = (wire: WatchWire): string => `${wire.startsWith("sse") ? "permission_denied" : "unauthenticated"}: Invalid or missing API key`;

describe.each(watchWires)("a watch over %s", (wire) => {
  const rig = watchRig();
  const revoke = ({ keyId }: Person) => rig.service.store.change((tx) => tx.keys.revoke(keyId, rig.clock.now()));

  /** A colleague who watches a task in which nothing happens any more. */
  async function watching(expiresInMs?: number) {
    const bo = await rig.service.person({ with: rig.ann, ...(expiresInMs ? { expiresAt: rig.clock.now() + expiresInMs } : {}) });
    const id = await rig.create(bo);
    const watch = rig.watch(wire, { taskId: id }, bo);
    await watch.until(2);
    await rig.quiet();
    const isOpen = () => Promise.race([watch.end, rig.quiet().then(() => "open")]);
    return { bo, id, watch, isOpen };
  }

  test("of a revoked key ends within 5 s when nothing else happens", async () => {
    const { bo, watch, isOpen } = await watching();
    await revoke(bo);
    expect(await isOpen()).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut(wire));
  });

  test("of a revoked key ends at the next news, before that is told", async () => {
    const { bo, id, watch } = await watching();
    await revoke(bo);
    await rig.add(id);
    expect(await watch.end).toBe(shut(wire));
    expect(seqsOf(watch)).toEqual(seqs(2));
  });

  test("of a key that expires ends within 5 s of that", async () => {
    const { watch } = await watching(2 * recheckMs);
    await rig.clock.advance(recheckMs);
    await rig.quiet();
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut(wire));
  });

  test("whose holder is no active member any more ends within 5 s", async () => {
    const { bo, watch, isOpen } = await watching();
    await directly(rig.db, `UPDATE membership SET status = 'inactive' WHERE account_id = '${bo.accountId}'`);
    expect(await isOpen()).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut(wire));
  });

  test("of a sound key goes on and on", async () => {
    const { id, watch, isOpen } = await watching();
    for (const _ of Array(10)) {
      await rig.clock.advance(60_000);
      await rig.quiet();
    }
    expect(await isOpen()).toBe("open");
    await rig.add(id);
    await watch.until(3);
  });
});

describe("the limit of calls a minute", () => {
  const rig = watchRig("sqlite", { RATE_LIMITS: "0.02" });
  beforeEach(() => rig.clock.advance(60_000 - (rig.clock.now() % 60_000)));
  const left = (headers: Headers) => [headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")];

  test.each(["sse", "connect-json", "grpc"] as const)("counts a watch over %s once, and what it asks again never", async (wire) => {
    const bo = await rig.service.person();
    const id = await rig.create(bo);
    const watch = rig.watch(wire, { taskId: id }, bo);
    await watch.until(2);
    for (const _ of [1, 2, 3]) {
      await rig.clock.advance(recheckMs);
      await rig.add(id);
      await rig.quiet();
    }
    expect(left(await watch.headers)).toEqual(["2", "1"]);
    expect(left(await rig.watch("sse", { taskId: id }, bo).headers)).toEqual(["2", "0"]);
    const over = rig.watch(wire, { taskId: id }, bo);
    expect(await over.end).toMatch(
      /^(rate_limited|resource_exhausted): rate limit of 2 calls a minute for task\.watch exceeded( \(429\))?$/,
    );
  });

  test("does not take a watch whose key was revoked for a stranger's call", async () => {
    const bo = await rig.service.person();
    const watch = rig.watch("sse", { taskId: await rig.create(bo) }, bo);
    await watch.until(2);
    await rig.service.store.change((tx) => tx.keys.revoke(bo.keyId, rig.clock.now()));
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut("sse"));
    const strange = async () => (await bo.v2("user.me")).status;
    expect([await strange(), await strange()]).toEqual([401, 429]);
  });
});
