import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import { openStore } from "../../../src/store/open.ts";
import { describeOnEach, openTestStore, postgresTemplate, rowsIn } from "../../support/database.ts";

describeOnEach("counters", (kind) => {
  test("grant the remaining amount and no more, for each key and minute separately", async () => {
    await using database = await openTestStore(kind);
    const { counters } = database.store;
    expect(await counters.take("a", 1, 4, 10)).toEqual({ granted: 4, left: 6 });
    expect(await counters.take("a", 1, 4, 10)).toEqual({ granted: 4, left: 2 });
    expect(await counters.take("a", 1, 4, 10)).toEqual({ granted: 2, left: 0 });
    expect(await counters.take("a", 1, 1, 10)).toEqual({ granted: 0, left: 0 });
    expect(await counters.take("b", 1, 1, 10)).toEqual({ granted: 1, left: 9 });
    expect(await counters.take("a", 2, 99, 10)).toEqual({ granted: 10, left: 0 });
    expect(await counters.take("a", 1, 1, 10)).toEqual({ granted: 0, left: 0 });
    await counters.give("a", 1, 1);
    expect(await counters.take("a", 1, 5, 10), "what was given back").toEqual({ granted: 1, left: 0 });
    await counters.take("hour", 59, 1, 5);
    expect(await counters.take("a", 1, 1, 10), "after one of an hour, in the future").toEqual({
      granted: 0,
      left: 0,
    });
  });

  test("never exceed the limit, for any number of simultaneous calls", async () => {
    await using database = await openTestStore(kind);
    const taken = await Promise.all(
      Array.from({ length: 200 }, (_, n) => database.store.counters.take("k", 7, 1 + (n % 3), 100)),
    );
    expect(taken.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
    expect(taken.every(({ granted, left }) => granted >= 0 && left >= 0)).toBe(true);
  });
});

test.skipIf(postgresTemplate === undefined)(
  "counters are shared by processes, and old minutes are deleted",
  async () => {
    await using database = await openTestStore("postgresql");
    const other = await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    await database.store.counters.take("k", 7, 6, 10);
    expect(await other.counters.take("k", 7, 6, 10)).toEqual({ granted: 4, left: 0 });
    await other.counters.take("k", 20, 1, 10);
    expect(
      (await rowsIn(database.url, "SELECT minute FROM rate_counter")).map(({ minute }) => Number(minute)),
    ).toEqual([20]);
    await other.close();
  },
);
