import { expect, test } from "vitest";
import { mutex } from "../../src/async/limit.ts";

test("one piece of work runs at a time, in the order of the calls, also after a failure", async () => {
  const exclusive = mutex();
  const begun: number[] = [];
  const works = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
  const answers = works.map(({ promise }, i) =>
    exclusive(() => {
      begun.push(i);
      return promise;
    }),
  );
  expect(begun).toEqual([]);
  await Promise.resolve();
  expect(begun).toEqual([0]);
  works[0]?.reject(new Error("no"));
  await expect(answers[0]).rejects.toThrow("no");
  expect(begun).toEqual([0, 1]);
  works[1]?.resolve("one");
  expect(await answers[1]).toBe("one");
  works[2]?.resolve("two");
  expect(await answers[2]).toBe("two");
  expect(begun).toEqual([0, 1, 2]);
});
