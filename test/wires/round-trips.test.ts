import { expect, test } from "vitest";
import { keyKinds } from "../../src/core/caller.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { operationTable } from "../../src/operations.ts";
import { type DatabaseKind, databaseKinds, postgresTemplate } from "../support/database.ts";
import { expectGolden } from "../support/golden.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { built } from "./built.ts";
import { takes } from "./keyring.ts";

/** Nobody who sleeps for long wakes up, so that no chore comes between. */
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms < 900 ? ms : 2 ** 31 - 1, signal) };

/** Operations that v2 serves. */
const inV2 = Object.entries(built).filter(([name]) => !name.includes("/"));

/** The person, by a key of the first kind that opens the operation. */
async function openerOf(service: Service, person: Person, name: string): Promise<Person> {
  const operation = operationTable().byName(name);
  const kind = keyKinds.find((each) => operation && takes(operation, each, "owner"));
  return kind === undefined || kind === "general" ? person : service.person({ as: person, with: person, kind });
}

/** The statements of one successful v2 call of each built operation: the fewest of three, for what is made once and the sweep of the start come between. */
async function countsOn(database: DatabaseKind): Promise<Map<string, number>> {
  await using service = await openService({ database, idle: true, clock, env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" } });
  const counts = new Map<string, number>();
  for (const [name, prepare] of inV2) {
    const person = await service.person();
    const caller = await openerOf(service, person, name);
    for (let round = 0; round < 3; round++) {
      const body = await prepare(person, service.store);
      const before = service.statements.length;
      const reply = await caller.v2(name, body);
      expect(`${name} ${JSON.stringify(reply.body.error ?? "ok")}`).toBe(`${name} "ok"`);
      counts.set(name, Math.min(service.statements.length - before, counts.get(name) ?? Number.POSITIVE_INFINITY));
    }
  }
  return counts;
}

test.skipIf(postgresTemplate === undefined)(
  "a call costs the database as many statements as the golden file says, BEGIN and COMMIT among them",
  async () => {
    const [sqlite, postgresql] = await Promise.all(databaseKinds.map(countsOn));
    const lines = inV2.map(([name]) => `${name.padEnd(20)} ${sqlite?.get(name)}  ${postgresql?.get(name)}`);
    expectGolden("round-trips.txt", `${["operation            sqlite  postgresql", ...lines].join("\n")}\n`);
  },
);
