import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { findNewPeer, findPeers } from "../../src/runtime/peers.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";

const row = (id: string) => ({ id, beat: 3, startedAt: 0, address: null });

describeOnOne("another process on the database", (kind) => {
  test("is detected by an advancing heartbeat and by a new row", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.nodes.insert(row("dead")));
    let reads = 0;
    const list = async () => {
      reads += 1;
      if (reads === 4) await store.change((tx) => tx.nodes.raiseHeartbeat("dead", 0));
      return store.nodes.list();
    };
    expect(await findPeers({ list }, movableClock())).toMatchObject({ live: { id: "dead" } });
    reads = 0;
    const insertWhileRead = async () => {
      reads += 1;
      if (reads === 2) await store.change((tx) => tx.nodes.insert(row("new")));
      return store.nodes.list();
    };
    expect(await findPeers({ list: insertWhileRead }, movableClock())).toMatchObject({ live: { id: "new" } });
  });

  test("is dead when its heartbeat stays the same for 10 s, and at once without a row or after the last one goes", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock();
    expect(await findPeers(store.nodes, clock)).toEqual({ live: null, dead: new Set() });
    expect(clock.monotonic()).toBe(0);
    await store.change((tx) => tx.nodes.insert(row("dead")));
    expect(await findPeers(store.nodes, clock)).toEqual({ live: null, dead: new Set(["dead"]) });
    expect(clock.monotonic()).toBe(10_000);
    let reads = 0;
    const leaving = async () => {
      reads += 1;
      if (reads === 2) await store.change((tx) => tx.nodes.remove("dead"));
      return store.nodes.list();
    };
    expect(await findPeers({ list: leaving }, clock)).toMatchObject({ live: null });
    expect(clock.monotonic()).toBe(10_500);
  });

  test("that starts concurrently is detected: of three starts exactly one gets its row, and a dead row stops none", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.nodes.insert(row("dead")));
    const { live, dead } = await findPeers(store.nodes, movableClock());
    expect(live).toBeNull();
    const start = () =>
      openLease(store, movableClock(), systemIds, false, async (tx) => {
        if ((await findNewPeer(tx, dead)) !== null) throw new Error("another process runs on this database");
      });
    const starts = await Promise.allSettled([start(), start(), start()]);
    expect(starts.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await store.nodes.list()).toHaveLength(2);
  });

  test("has its address in its row, also in the one created after it was taken for dead", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const lease = await openLease(store, movableClock(), systemIds, false);
    expect(await store.nodes.list()).toMatchObject([{ address: null }]);
    await lease.announce("http://127.0.0.1:8081");
    await store.change((tx) => tx.nodes.remove(lease.nodeId()));
    expect(await lease.changeIfLive(async () => "done")).toBeNull();
    expect(await store.nodes.list()).toMatchObject([
      { id: lease.nodeId(), address: "http://127.0.0.1:8081" },
    ]);
  });
});
