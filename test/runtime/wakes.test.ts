import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startWakes } from "../../src/runtime/wakes.ts";
import { createFeed } from "../../src/store/news.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const lookMs = 250;

describe("after a change that a task waits for a run", () => {
  let clock: StillClock;
  let done: string[];
  let logged: string[];
  let stops: (() => Promise<void>)[];
  let hasRoom: boolean;
  const notified = createFeed(() => undefined);
  const change = (turn: number, kind = "run") =>
    notified.publish({ news: new Map(), jobKinds: new Set([kind]), turns: [turn] });

  beforeEach(() => {
    clock = stillClock();
    [done, logged, hasRoom] = [[], [], true];
    stops = [0, 1, 2].map((place) =>
      startWakes({
        ...{ feed: notified.feed, clock, log: (_, text) => void logged.push(text) },
        runs: {
          async wake() {
            done.push(`wake ${place}`);
            if (done.length === 1) throw new Error("no database");
          },
          look: async () => void done.push(`look ${place}`),
          hasCapacity: () => hasRoom,
        },
        lease: { isInTurn: (turns) => turns.some((turn) => turn % 3 === place) },
      }),
    );
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
  });

  test(`one process claims at once, each in turn, and the others look ${lookMs} ms later, once for several changes`, async () => {
    for (const turn of [3, 4, 5, 6]) change(turn);
    expect(done).toEqual(["wake 0", "wake 1", "wake 2", "wake 0"]);
    await clock.advance(lookMs - 1);
    expect(done).toHaveLength(4);
    await clock.advance(1);
    expect(done.slice(4).toSorted()).toEqual(["look 0", "look 1", "look 2"]);
    expect(logged, "a claim that failed").toEqual(["claiming failed"]);
    change(1);
    await clock.advance(lookMs);
    expect(done.slice(7)).toEqual(["wake 1", "look 0", "look 2"]);
  });

  test("a process without room does neither, nor does any after another kind of change or after its end", async () => {
    hasRoom = false;
    change(0);
    hasRoom = true;
    change(0, "deliver");
    await clock.advance(lookMs);
    expect(done).toEqual([]);
    change(0);
    for (const stop of stops) await stop();
    change(0);
    await clock.advance(lookMs);
    expect(done).toEqual(["wake 0"]);
  });
});
