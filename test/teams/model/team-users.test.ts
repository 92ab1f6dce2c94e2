import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne, nodesOf, openTestStore } from "../../support/database.ts";
import { depth, sample } from "../../support/depth.ts";
import { openDirect } from "../../support/direct.ts";
import { openService } from "../../support/service.ts";
import { stillClock } from "../../support/still-clock.ts";
import { checkAll } from "./check.ts";
import { newTeams, type SharedPlatform } from "./rig.ts";
import { numRuns, patience, timeout } from "./run-size.ts";
import { openingCommands, reactivateAll, sequences } from "./sequences.ts";

describeOnOne("a team's users", (kind) => {
  let shared: SharedPlatform & AsyncDisposable;
  beforeAll(async () => {
    const clock = stillClock();
    const database = await openTestStore(kind, { clock });
    // Each of several nodes has a store: on PostgreSQL any node accepts any call.
    const service = await openService({
      database: kind,
      nodes: sample(nodesOf(kind), 1),
      over: database,
      clock,
      idle: true,
    });
    const tables = await openDirect(database);
    const close = async () => {
      await tables[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    };
    shared = { service, tables, clock, tally: new Map(), [Symbol.asyncDispose]: close };
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  test("answer as specified and keep their invariants, for any sequence of calls", {
    timeout,
  }, async () => {
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const teams = await newTeams(shared);
      await fc.asyncModelRun(() => teams, [...openingCommands, ...sequence]);
      await checkAll(teams.model, teams.real);
      await reactivateAll(teams.model, teams.real);
      await checkAll(teams.model, teams.real);
    });
    await fc.assert(property, { numRuns, ...patience });
    // The few random sequences of a slice may leave some of these out.
    if (depth === "slice") return;
    for (const happened of [
      "cascade",
      "delegate done",
      "reclaim done",
      "remove done",
      "update done",
      "rename done",
      "create already_exists",
    ])
      expect(shared.tally.get(happened) ?? 0, happened).toBeGreaterThan(0);
  });
});
