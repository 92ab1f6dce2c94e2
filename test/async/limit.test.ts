import { expect, test } from "vitest";
import { limitConcurrency } from "../../src/async/limit.ts";

test("N pieces of work run at once, the rest in the order of the calls, also after failures", async () => {
  const limited = limitConcurrency(2);
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<string>());
  const answers = works.map(({ promise }, i) =>
    limited(() => {
      begun.push(i);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  works[1]?.reject(new Error("no"));
  await expect(answers[1]).rejects.toThrow("no");
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of works) resolve("done");
  expect(await Promise.all([0, 2, 3, 4].map((i) => answers[i]))).toEqual(Array(4).fill("done"));
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await limited(async () => "later")).toBe("later");
});
