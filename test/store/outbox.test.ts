import { describe, expect, test } from "vitest";
import type { TaskNews } from "../../src/core/store.ts";
import { lookText, type News, textsOf } from "../../src/store/news.ts";
import { createOutbox } from "../../src/store/outbox.ts";

const newsOf = (tasks: readonly TaskNews[], ...kinds: string[]): News => ({
  news: new Map(tasks.map((told) => [told.taskId, told])),
  jobKinds: new Set(kinds),
});
const told = (members: Partial<TaskNews> = {}): TaskNews => ({ taskId: "t", lastSeq: 1, fence: 1, status: "running", ...members });

describe("news on their way", () => {
  test("are taken once, and of each task its newest state", () => {
    const outbox = createOutbox();
    outbox.put(newsOf([told(), told({ taskId: "u" })], "run"));
    outbox.put(newsOf([told({ lastSeq: 2 })], "run"));
    expect(outbox.take()).toEqual(textsOf(newsOf([told({ lastSeq: 2 }), told({ taskId: "u" })], "run")));
    expect(outbox.take()).toEqual([]);
  });

  test.each([
    ["a stop that was overtaken by the step before it", told({ fence: 2, lastSeq: 3, status: "stopped" }), told({ fence: 1, lastSeq: 2 })],
    ["an event that was overtaken by the one before it", told({ lastSeq: 3 }), told({ lastSeq: 2 })],
  ])("keep %s", (_, newer, older) => {
    const outbox = createOutbox();
    outbox.put(newsOf([newer]));
    outbox.put(newsOf([older]));
    expect(outbox.take()).toEqual(textsOf(newsOf([newer])));
  });

  test("become a word to look when they are too many, and wake-ups are kept", () => {
    const outbox = createOutbox();
    for (let i = 0; i < 100_000; i += 1) outbox.put(newsOf([told({ taskId: `t${i}` })], "run"));
    const [first, ...rest] = outbox.take();
    expect(first).toBe(lookText);
    expect(rest.length).toBeLessThan(10);
    expect(rest.at(-1)).toContain('"run"');
  });

  test("that were lost are told as that, once", () => {
    const outbox = createOutbox();
    outbox.lose();
    expect(outbox.take()).toEqual([lookText]);
    expect(outbox.take()).toEqual([]);
  });
});
