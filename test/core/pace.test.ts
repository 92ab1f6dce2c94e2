import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { paced } from "../../src/core/pace.ts";

test("so many go on at once, and as many a turn of the event loop later, in their order", async () => {
  const pace = paced(2);
  const gone: number[] = [];
  for (const each of [1, 2, 3, 4, 5]) void pace().then(() => gone.push(each));
  await Promise.resolve();
  expect(gone).toEqual([1, 2]);
  await turn();
  expect(gone).toEqual([1, 2, 3, 4]);
  await turn();
  expect(gone).toEqual([1, 2, 3, 4, 5]);
});
