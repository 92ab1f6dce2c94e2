import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";

test("a sleep until a time that has just passed ends immediately, without a warning from Node", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", note);
  await systemClock.sleep(-0.003);
  // A warning is emitted one turn later.
  await new Promise(setImmediate);
  process.off("warning", note);
  expect(warnings).toEqual([]);
});
