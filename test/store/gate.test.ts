import { expect, test } from "vitest";
import { createGate } from "../../src/store/gate.ts";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { ann, sampleProject } from "./samples.ts";

/** Enough for anything that does not wait for the other change. */
const turns = async () => {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Enters a gate again and again, a millisecond each time, until the event loop has gone on; answers how often. */
async function entriesUntilTurn(): Promise<number> {
  let ms = 0;
  const gate = createGate(() => ms);
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  let entries = 0;
  // Work that never leaves the microtasks, as SQLite's does.
  for (; entries < 100 && !turned; entries += 1) {
    await gate(async () => {
      ms += 1;
    });
  }
  return entries;
}

test("changes one after the other let requests and timers in between, and not for each of them", async () => {
  const entries = await entriesUntilTurn();
  expect(entries).toBeLessThan(20);
  expect(entries).toBeGreaterThan(5);
});

describeOnEach("writes beside an open change", (kind) => {
  test("an acknowledged write does not vanish with another's rollback", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const held = Promise.withResolvers<void>();
    const rolledBack = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "lost" }));
      await held.promise;
      throw new Error("no");
    });
    const acknowledged = store.change((tx) => tx.projects.insert(sampleProject({ id: "kept" })));
    await turns();
    held.resolve();
    await expect(rolledBack).rejects.toThrow();
    await acknowledged;
    expect(await store.projects.find(ann, "kept")).not.toBeNull();
    expect(await store.projects.find(ann, "lost")).toBeNull();
  });

  test("a row that is not committed is not seen from outside", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const inserted = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const change = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "soon" }));
      inserted.resolve();
      await held.promise;
    });
    await inserted.promise;
    expect(await store.projects.find(ann, "soon")).toBeNull();
    held.resolve();
    await change;
    expect(await store.projects.find(ann, "soon")).not.toBeNull();
  });
});
