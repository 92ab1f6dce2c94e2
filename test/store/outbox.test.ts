import { describe, expect, test } from "vitest";
import type { TaskNews } from "../../src/core/store.ts";
import { type ChangeNews, createOutbox, payloadsOf, refreshPayload } from "../../src/store/news.ts";

const newsOf = (tasks: readonly TaskNews[], ...kinds: string[]): ChangeNews => ({
  news: new Map(tasks.map((newsFor) => [newsFor.taskId, newsFor])),
  jobKinds: new Set(kinds),
});
const newsFor = (members: Partial<TaskNews> = {}): TaskNews => ({
  taskId: "t",
  lastSeq: 1,
  fence: 1,
  status: "running",
  ...members,
});

describe("pending news", () => {
  test("are taken once, with the newest state of each task", () => {
    const outbox = createOutbox();
    outbox.put(newsOf([newsFor(), newsFor({ taskId: "u" })], "run"));
    outbox.put(newsOf([newsFor({ lastSeq: 2 })], "run"));
    expect(outbox.take()).toEqual(
      payloadsOf(newsOf([newsFor({ lastSeq: 2 }), newsFor({ taskId: "u" })], "run")),
    );
    expect(outbox.take()).toEqual([]);
  });

  test.each([
    [
      "a stop that was put before an earlier step",
      newsFor({ fence: 2, lastSeq: 3, status: "stopped" }),
      newsFor({ fence: 1, lastSeq: 2 }),
    ],
    ["an event that was put before an earlier one", newsFor({ lastSeq: 3 }), newsFor({ lastSeq: 2 })],
  ])("keep %s", (_, newer, older) => {
    const outbox = createOutbox();
    outbox.put(newsOf([newer]));
    outbox.put(newsOf([older]));
    expect(outbox.take()).toEqual(payloadsOf(newsOf([newer])));
  });

  test("become one request to poll when they are too many, and wake-ups are kept", () => {
    const outbox = createOutbox();
    for (let i = 0; i < 100_000; i += 1) outbox.put(newsOf([newsFor({ taskId: `t${i}` })], "run"));
    const [first, ...rest] = outbox.take();
    expect(first).toBe(refreshPayload);
    expect(rest.length).toBeLessThan(10);
    expect(rest.at(-1)).toContain('"run"');
  });

  test("that were lost are reported as lost, once", () => {
    const outbox = createOutbox();
    outbox.recordLoss();
    expect(outbox.take()).toEqual([refreshPayload]);
    expect(outbox.take()).toEqual([]);
  });
});
