import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { findLivingPeer } from "../../src/runtime/peers.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore } from "../support/database.ts";

const row = (id: string) => ({ id, beat: 3, startedAt: 0, address: null });

describeOnEach("another process on the database", (kind) => {
  test("is found by its beat that rises, and by its row that is new", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.nodes.insert(row("dead")));
    let looks = 0;
    const list = async () => {
      looks += 1;
      if (looks === 4) await store.change((tx) => tx.nodes.raiseBeat("dead"));
      return store.nodes.list();
    };
    expect(await findLivingPeer({ list }, movableClock())).toMatchObject({ id: "dead" });
    looks = 0;
    const appearing = async () => {
      looks += 1;
      if (looks === 2) await store.change((tx) => tx.nodes.insert(row("new")));
      return store.nodes.list();
    };
    expect(await findLivingPeer({ list: appearing }, movableClock())).toMatchObject({ id: "new" });
  });

  test("is none when its beat stays the same for 10 s, and at once when there is no row or the last one goes", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock();
    expect(await findLivingPeer(store.nodes, clock)).toBeNull();
    expect(clock.monotonic()).toBe(0);
    await store.change((tx) => tx.nodes.insert(row("dead")));
    expect(await findLivingPeer(store.nodes, clock)).toBeNull();
    expect(clock.monotonic()).toBe(10_000);
    let looks = 0;
    const leaving = async () => {
      looks += 1;
      if (looks === 2) await store.change((tx) => tx.nodes.remove("dead"));
      return store.nodes.list();
    };
    expect(await findLivingPeer({ list: leaving }, clock)).toBeNull();
    expect(clock.monotonic()).toBe(10_500);
  });

  test("has its address in its row, also in the one that is made when it was taken for dead", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const lease = await openLease(store, movableClock(), systemIds, false);
    expect(await store.nodes.list()).toMatchObject([{ address: null }]);
    await lease.announce("http://127.0.0.1:8081");
    await store.change((tx) => tx.nodes.remove(lease.nodeId()));
    expect(await lease.alive(async () => "done")).toBeNull();
    expect(await store.nodes.list()).toMatchObject([{ id: lease.nodeId(), address: "http://127.0.0.1:8081" }]);
  });
});
