import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaskNews } from "../../src/core/store.ts";
import { type ChangeNews, parseNews, payloadsOf, refreshPayload } from "../../src/store/news.ts";

const newsOf = (tasks: readonly TaskNews[], ...kinds: string[]): ChangeNews => ({
  news: new Map(tasks.map((told) => [told.taskId, told])),
  jobKinds: new Set(kinds),
  turns: kinds.map((_, n) => 2 ** 32 + n),
});

const parsedNews = (texts: readonly string[]): ChangeNews => {
  const all = texts.map((text) => parseNews(text) ?? expect.fail(`not to be read: ${text}`));
  return {
    news: new Map(all.flatMap(({ news }) => [...news])),
    jobKinds: new Set(all.flatMap(({ jobKinds }) => [...jobKinds])),
    turns: all.flatMap(({ turns = [] }) => turns),
  };
};

const manyTasks = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    taskId: `task-${i}`.padEnd(22, "x"),
    lastSeq: i,
    fence: i % 7,
    status: "running",
  }));

describe("news as payloads", () => {
  test("are read as they were written, and each fits into a notification", () => {
    const some = fc
      .record({
        taskId: fc.string({ unit: "grapheme", maxLength: 60 }),
        lastSeq: fc.nat(),
        fence: fc.nat(),
        status: fc.constantFrom("running", "stopped", "waiting", "error"),
        owner: fc.option(fc.record({ spaceId: fc.string(), accountId: fc.string() }), { nil: {} }),
      })
      .map(({ owner, ...state }) => ({ ...state, ...owner }));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 400 }), fc.subarray(["run", "deliver"]), (tasks, kinds) => {
        const news = newsOf(tasks, ...kinds);
        const texts = payloadsOf(news);
        for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(8_000);
        expect(parsedNews(texts)).toEqual(news);
      }),
      { numRuns: 50 },
    );
  });

  test("are one payload while they fit, and none when empty", () => {
    expect(payloadsOf(newsOf(manyTasks(100), "run"))).toHaveLength(1);
    expect(payloadsOf(newsOf(manyTasks(1_000), "run")).length).toBeLessThan(10);
    expect(payloadsOf(newsOf([]))).toEqual([]);
    expect(payloadsOf(newsOf([], "run"))).toHaveLength(1);
  });

  test("name a job after its tasks, so that the tasks are known first", () => {
    const kinds = payloadsOf(newsOf(manyTasks(1_000), "run")).map((text) => [
      ...(parseNews(text)?.jobKinds ?? []),
    ]);
    expect(kinds.flat()).toEqual(["run"]);
    expect(kinds.at(-1)).toEqual(["run"]);
  });

  test("request a poll for a task that fits into no payload", () => {
    const texts = payloadsOf(
      newsOf([{ taskId: "é".repeat(4_000), lastSeq: 1, fence: 1, status: "running" }]),
    );
    expect(texts).toEqual([refreshPayload]);
  });

  test.each([
    "",
    refreshPayload,
    "null",
    "7",
    "{",
    '{"tasks":7}',
    '{"tasks":[["t",1,1]]}',
    '{"tasks":[["t","1",1,"x"]]}',
    '{"tasks":[[1,1,1,"x"]]}',
    '{"jobs":[1]}',
    '{"jobs":["run"],"turns":[-1]}',
  ])("that cannot be read ask to look: %s", (text) => expect(parseNews(text)).toBeNull());

  test("of a later release are read as far as this one knows them", () => {
    expect(parseNews('{"tasks":[["t",1,2,"running","more"]],"files":[1]}')).toEqual(
      newsOf([{ taskId: "t", lastSeq: 1, fence: 2, status: "running" }]),
    );
  });
});
