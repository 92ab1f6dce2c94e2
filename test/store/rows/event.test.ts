import fc from "fast-check";
import { expect, test } from "vitest";
import { type EventWindow, verboseTypes } from "../../../src/core/tasks/event.ts";
import { describeOnEach, storeOfSuite } from "../../support/database.ts";
import { agentMessage, agentThought, putTask, userMessage } from "../samples.ts";

describeOnEach("events", (kind) => {
  const suite = storeOfSuite(kind);

  test("a window shows the events in it, in order", async () => {
    const { store } = suite;
    const events = [
      userMessage(),
      ...Array.from({ length: 11 }, (_, n) => (n % 3 === 0 ? agentMessage() : agentThought())),
    ];
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

  test("erasing deletes all events of its task and of no other", async () => {
    const { store } = suite;
    const gone = await putTask(store, {}, [userMessage(), agentMessage()]);
    const stays = await putTask(store, {}, [userMessage()]);
    await store.change((tx) => tx.events.deleteOfTask(gone.id));
    expect(await store.events.list(gone.id, { order: "asc", limit: 9, verbose: true })).toEqual([]);
    expect(await store.events.list(stays.id, { order: "asc", limit: 9, verbose: true })).toHaveLength(1);
  });

  test("the events of deleted tasks are erased when they are due, some tasks at a time", async () => {
    const { store } = suite;
    const tasks = await Promise.all([1000, 2000, 3000].map(() => putTask(store, {}, [userMessage()])));
    const activeTask = await putTask(store, {}, [userMessage()]);
    await store.change(async (tx) => {
      for (const [n, { id }] of tasks.entries()) await tx.tasks.tombstone(id, 1000 * (n + 1), false);
    });
    const remainingEvents = async () => {
      const pages = [...tasks, activeTask].map(({ id }) =>
        store.events.list(id, { order: "asc", limit: 9, verbose: true }),
      );
      return (await Promise.all(pages)).map((page) => page.length);
    };
    const erase = (before: number, max: number) => store.change((tx) => tx.events.purge(before, max));
    expect(await erase(1000, 9)).toBe(0);
    expect(await erase(3000, 1)).toBe(1);
    expect((await remainingEvents()).reduce((sum, n) => sum + n, 0)).toBe(3);
    expect(await erase(3000, 9)).toBe(1);
    expect(await remainingEvents()).toEqual([0, 0, 1, 1]);
    expect(await erase(3000, 9)).toBe(0);
  });

  test("many are written at once", async () => {
    const { store } = suite;
    const { id } = await putTask(
      store,
      {},
      Array.from({ length: 500 }, () => agentThought()),
    );
    expect(await store.events.list(id, { order: "asc", limit: 1000, verbose: true })).toHaveLength(500);
  });
});
