import fc from "fast-check";
import { expect, test } from "vitest";
import { type EventWindow, verboseTypes } from "../../src/core/tasks/event.ts";
import { describeOnEach, storeOfSuite } from "../support/database.ts";
import { putTask, said, thought, userMessage } from "./samples.ts";

describeOnEach("events", (kind) => {
  const suite = storeOfSuite(kind);

  test("a window shows what lies in it, in its order", async () => {
    const { store } = suite;
    const events = [userMessage(), ...Array.from({ length: 11 }, (_, n) => (n % 3 === 0 ? said() : thought()))];
    const { id } = await putTask(store, {}, events);
    await putTask(store, {}, events);
    const all = await store.events.list(id, { order: "asc", limit: 99, verbose: true });
    const bound = fc.option(fc.integer({ min: 0, max: 13 }), { nil: undefined });
    const windows = fc.record({
      afterSeq: bound,
      beforeSeq: bound,
      order: fc.constantFrom("asc" as const, "desc" as const),
      limit: fc.integer({ min: 1, max: 13 }),
      verbose: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(windows, async ({ afterSeq, beforeSeq, ...rest }) => {
        const window: EventWindow = {
          ...rest,
          ...(afterSeq === undefined ? {} : { afterSeq }),
          ...(beforeSeq === undefined ? {} : { beforeSeq }),
        };
        const within = all.filter(({ seq }) => seq > (afterSeq ?? 0) && seq < (beforeSeq ?? 99));
        const shown = within.filter(({ type }) => window.verbose || !verboseTypes.has(type));
        const ordered = window.order === "asc" ? shown : shown.toReversed();
        expect(await store.events.list(id, window)).toEqual(ordered.slice(0, window.limit));
      }),
      { numRuns: 60 },
    );
  });

  test("erasing takes all events of its task and of no other", async () => {
    const { store } = suite;
    const gone = await putTask(store, {}, [userMessage(), said()]);
    const stays = await putTask(store, {}, [userMessage()]);
    await store.change((tx) => tx.events.erase(gone.id));
    expect(await store.events.list(gone.id, { order: "asc", limit: 9, verbose: true })).toEqual([]);
    expect(await store.events.list(stays.id, { order: "asc", limit: 9, verbose: true })).toHaveLength(1);
  });

  test("many are written at once", async () => {
    const { store } = suite;
    const { id } = await putTask(
      store,
      {},
      Array.from({ length: 500 }, () => thought()),
    );
    expect(await store.events.list(id, { order: "asc", limit: 1000, verbose: true })).toHaveLength(500);
  });
});
