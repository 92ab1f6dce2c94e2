import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { pacer } from "../../src/async/limit.ts";

test("N calls pass at once and N in each later turn of the event loop, in order", async () => {
  const pace = pacer(2);
  const passed: number[] = [];
  for (const each of [1, 2, 3, 4, 5]) void pace().then(() => passed.push(each));
  await Promise.resolve();
  expect(passed).toEqual([1, 2]);
  await turn();
  expect(passed).toEqual([1, 2, 3, 4]);
  await turn();
  expect(passed).toEqual([1, 2, 3, 4, 5]);
});
