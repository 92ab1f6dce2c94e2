import { expect, test } from "vitest";
import { fewAtOnce } from "../../src/core/few-at-once.ts";

test("so much runs at once, the rest in the order in which it came, whatever it comes to", async () => {
  const turns = fewAtOnce(2);
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<string>());
  const answers = works.map(({ promise }, i) =>
    turns(() => {
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
  expect(await turns(async () => "later")).toBe("later");
});
