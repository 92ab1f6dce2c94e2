import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnEach, nodesOf, openTestStore } from "../../support/database.ts";
import { openBeside } from "../../support/direct.ts";
import { openService } from "../../support/service.ts";
import { stillClock } from "../../support/still-clock.ts";
import { checkAll } from "./check.ts";
import { numRuns, patience, seed, timeout, told } from "./dice.ts";
import { type Ground, newTeams } from "./rig.ts";
import { bringBack, opening, sequences } from "./sequences.ts";

describeOnEach("a team's users", (kind) => {
  let ground: Ground & AsyncDisposable;
  beforeAll(async () => {
    const clock = stillClock();
    const database = await openTestStore(kind, { clock });
    // Several nodes have a store each: on PostgreSQL any of them takes any call.
    const service = await openService({ database: kind, nodes: nodesOf(kind), over: database, clock, idle: true });
    const tables = await openBeside(database);
    const close = async () => {
      await tables[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    };
    ground = { service, tables, clock, tally: new Map(), [Symbol.asyncDispose]: close };
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  test("answer as the contract says and keep its rules, whatever is done to them in whatever order", {
    timeout,
  }, async () => {
    told(kind);
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const teams = await newTeams(ground);
      await fc.asyncModelRun(() => teams, [...opening, ...sequence]);
      await checkAll(teams.model, teams.real);
      await bringBack(teams.model, teams.real);
      await checkAll(teams.model, teams.real);
    });
    await fc.assert(property, { numRuns, seed, ...patience });
    // Nothing was proven of what never happened.
    for (const happened of [
      "cascade",
      "delegate done",
      "reclaim done",
      "remove done",
      "update done",
      "rename done",
      "create already_exists",
    ])
      expect(ground.tally.get(happened), happened).toBeGreaterThan(0);
  });
});
