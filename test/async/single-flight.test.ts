import { expect, test } from "vitest";
import { singleFlight } from "../../src/async/coalesce.ts";

test("calls during a run share it and its error; the next call starts another", async () => {
  const runs: PromiseWithResolvers<number>[] = [];
  const run = singleFlight(() => {
    const next = Promise.withResolvers<number>();
    runs.push(next);
    return next.promise;
  });
  const shared = [run(), run()];
  expect(runs).toHaveLength(1);
  runs[0]?.reject(new Error("no"));
  for (const each of shared) await expect(each).rejects.toThrow("no");
  const next = run();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve(2);
  expect(await next).toBe(2);
});
