import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaskNews } from "../../src/core/store.ts";
import { lookText, type News, newsIn, textsOf } from "../../src/store/news.ts";

const newsOf = (tasks: readonly TaskNews[], ...kinds: string[]): News => ({
  news: new Map(tasks.map((told) => [told.taskId, told])),
  jobKinds: new Set(kinds),
});

const toldBy = (texts: readonly string[]): News => {
  const all = texts.map((text) => newsIn(text) ?? expect.fail(`not to be read: ${text}`));
  return {
    news: new Map(all.flatMap(({ news }) => [...news])),
    jobKinds: new Set(all.flatMap(({ jobKinds }) => [...jobKinds])),
  };
};

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ taskId: `task-${i}`.padEnd(22, "x"), lastSeq: i, fence: i % 7, status: "running" }));

describe("news as payloads", () => {
  test("are read as they were written, and each fits into a notification", () => {
    const some = fc.record({
      taskId: fc.string({ unit: "grapheme", maxLength: 60 }),
      lastSeq: fc.nat(),
      fence: fc.nat(),
      status: fc.constantFrom("running", "stopped", "waiting", "error"),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 400 }), fc.subarray(["run", "deliver"]), (tasks, kinds) => {
        const news = newsOf(tasks, ...kinds);
        const texts = textsOf(news);
        for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(8_000);
        expect(toldBy(texts)).toEqual(news);
      }),
      { numRuns: 50 },
    );
  });

  test("are one payload as long as they fit, and none when there are none", () => {
    expect(textsOf(newsOf(many(100), "run"))).toHaveLength(1);
    expect(textsOf(newsOf(many(1_000), "run")).length).toBeLessThan(10);
    expect(textsOf(newsOf([]))).toEqual([]);
    expect(textsOf(newsOf([], "run"))).toHaveLength(1);
  });

  test("tell of a job after the tasks, so that it is about something known", () => {
    const kinds = textsOf(newsOf(many(1_000), "run")).map((text) => [...(newsIn(text)?.jobKinds ?? [])]);
    expect(kinds.flat()).toEqual(["run"]);
    expect(kinds.at(-1)).toEqual(["run"]);
  });

  test("ask to look for what fits into no payload", () => {
    const texts = textsOf(newsOf([{ taskId: "é".repeat(4_000), lastSeq: 1, fence: 1, status: "running" }]));
    expect(texts).toEqual([lookText]);
  });

  test.each([
    "",
    lookText,
    "null",
    "7",
    "{",
    '{"tasks":7}',
    '{"tasks":[["t",1,1]]}',
    '{"tasks":[["t","1",1,"x"]]}',
    '{"tasks":[[1,1,1,"x"]]}',
    '{"jobs":[1]}',
  ])("that cannot be read ask to look: %s", (text) => expect(newsIn(text)).toBeNull());

  test("of a later release are read as far as they are known", () => {
    expect(newsIn('{"tasks":[["t",1,2,"running","more"]],"files":[1]}')).toEqual(
      newsOf([{ taskId: "t", lastSeq: 1, fence: 2, status: "running" }]),
    );
  });
});
