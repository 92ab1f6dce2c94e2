import { expect, test } from "vitest";
import { keyUses } from "../../../src/core/keys/api-keys.ts";
import type { Store } from "../../../src/core/store.ts";
import { ApiKeyService } from "../../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { sampleKey } from "../../store/samples.ts";
import { describeOnPostgres, nodesOf, openTestStore } from "../../support/database.ts";
import { openService, type Person } from "../../support/service.ts";
import { stillClock } from "../../support/still-clock.ts";

const minute = 60_000;

describeOnPostgres("the last use of a key", (database) => {
  async function openKeyStore() {
    const clock = stillClock(10 * minute);
    const db = await openTestStore(database, { clock });
    const key = sampleKey();
    await db.store.change((tx) => tx.keys.insert(key));
    let writes = 0;
    const store: Pick<Store, "change"> = {
      change(work) {
        writes += 1;
        return db.store.change(work);
      },
    };
    const usedAt = async () => (await db.store.keys.list(key, 0))[0]?.usedAt ?? null;
    return { clock, db, key, store, writes: () => writes, usedAt };
  }

  test("is written once, and again after a minute", async () => {
    const { clock, db, key, store, writes, usedAt } = await openKeyStore();
    await using _ = db;
    const uses = keyUses(store, clock);
    await uses.write();
    expect(writes()).toBe(0);
    uses.note(key.id, null);
    uses.note(key.id, null);
    await uses.write();
    expect([await usedAt(), writes()]).toEqual([10 * minute, 1]);
    await clock.advance(minute - 1);
    uses.note(key.id, await usedAt());
    await uses.write();
    expect([await usedAt(), writes()]).toEqual([10 * minute, 1]);
    await clock.advance(1);
    uses.note(key.id, await usedAt());
    await uses.write();
    expect([await usedAt(), writes()]).toEqual([11 * minute, 2]);
  });

  test("never goes back, and is written once a minute over all nodes", async () => {
    const { clock, db, key, store, usedAt } = await openKeyStore();
    await using _ = db;
    const [one, other, late] = [keyUses(store, clock), keyUses(store, clock), keyUses(store, clock)];
    late.note(key.id, null);
    await clock.advance(2 * minute);
    one.note(key.id, null);
    await clock.advance(1);
    other.note(key.id, null);
    await Promise.all([one, other].map((uses) => uses.write()));
    const written = await usedAt();
    expect([12 * minute, 12 * minute + 1]).toContain(written);
    await late.write();
    expect(await usedAt()).toBe(written);
  });

  test("that cannot be written is written with a later one", async () => {
    const { clock, db, key, usedAt } = await openKeyStore();
    await using _ = db;
    let broken = true;
    const uses = keyUses(
      { change: (work) => (broken ? Promise.reject(new Error("disk full")) : db.store.change(work)) },
      clock,
    );
    uses.note(key.id, null);
    await expect(uses.write()).rejects.toThrow("disk full");
    broken = false;
    uses.note(key.id, await usedAt());
    await uses.write();
    expect(await usedAt()).toBe(10 * minute);
  });
});

describeOnPostgres("a platform", (database) => {
  const lastUse = async (bo: Person) =>
    (await bo.client(ApiKeyService).listApiKeys({})).data.find(({ id }) => id === bo.keyId)?.lastUsedAt;

  test("reports when a key was last used, written outside the calls and before the platform stops", async () => {
    const clock = stillClock();
    await using db = await openTestStore(database, { clock });
    const service = await openService({ over: db, nodes: nodesOf(database), idle: true, clock });
    const bo = await service.person();
    const first = clock.now();
    expect(await lastUse(bo)).toBeUndefined();
    await service[Symbol.asyncDispose]();
    await using again = await openService({ over: db, idle: true, clock });
    const { client } = await again.person({ as: bo, with: bo });
    const found = (await client(ApiKeyService).listApiKeys({})).data.find(({ id }) => id === bo.keyId);
    expect(found?.lastUsedAt).toBe(BigInt(Math.floor(first / 1000)));
  });
});
