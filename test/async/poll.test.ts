import { expect, test } from "vitest";
import { poll } from "../../src/async/poll.ts";
import { movableClock } from "../support/clock.ts";

/** Polls until `rounds` have begun; returns their start times and the log. */
async function pollRounds(ms: number, rounds: number, work: (round: number) => void) {
  const clock = movableClock(0);
  const stopping = new AbortController();
  const begun: number[] = [];
  const logged: string[] = [];
  await poll(
    clock,
    ms,
    stopping.signal,
    (_, text) => logged.push(text),
    async function lookAround() {
      begun.push(clock.now());
      if (begun.length === rounds) stopping.abort();
      clock.pass(10);
      work(begun.length);
    },
  );
  return { begun, logged };
}

test("work runs at once, then again a pause after each end, until the signal is aborted", async () => {
  expect(await pollRounds(300, 3, () => undefined)).toEqual({ begun: [0, 310, 620], logged: [] });
});

test("an error is logged under the function's name, and the next round follows after at most a second", async () => {
  const failing = (round: number) => {
    if (round === 1) throw new Error("no");
  };
  expect(await pollRounds(5_000, 3, failing)).toEqual({
    begun: [0, 1_010, 6_020],
    logged: ["lookAround failed"],
  });
  expect(await pollRounds(300, 2, failing)).toMatchObject({ begun: [0, 310] });
});
