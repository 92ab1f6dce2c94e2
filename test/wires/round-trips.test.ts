import { expect, test } from "vitest";
import { keyKinds } from "../../src/core/accounts/caller.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { registry } from "../operations/registry.ts";
import { atRest } from "../support/at-rest.ts";
import { type DatabaseKind, databaseKinds, postgresTemplate } from "../support/database.ts";
import { expectGolden } from "../support/golden.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { canOpen, takes } from "./access.ts";

/** Sleeps never end, so that no maintenance job runs in between. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < 900 ? ms : 2 ** 31 - 1, signal),
};

/** Operations that v2 serves to a key. */
const inV2 = [...registry].flatMap(([rpc, { prepare }]) => {
  const operation = operationTable().byRpc(rpc);
  return operation?.name && canOpen(operation, "v2") ? [{ operation, name: operation.name, prepare }] : [];
});

/** A holder of a key with access to the operation: the person, or the person with another kind of key. */
async function holderOf(service: Service, person: Person, operation: Operation): Promise<Person> {
  const kind = keyKinds.find((each) => takes(operation, each, "owner"));
  return kind === undefined || kind === "general"
    ? person
    : service.person({ as: person, with: person, kind });
}

interface Count {
  readonly statements: number;
  readonly roundTrips: number;
}

const fewest = (count: Count, other = count): Count => ({
  statements: Math.min(count.statements, other.statements),
  roundTrips: Math.min(count.roundTrips, other.roundTrips),
});

/**
 * The statements and round trips of one successful v2 call per operation. The fewest of three calls: one-time
 * work and the sweep add some. The statements of a stream continue while the answer is open, next to others,
 * so its round trips are not counted.
 */
async function countsOn(database: DatabaseKind): Promise<Map<string, Count>> {
  await using service = await openService({
    database,
    idle: true,
    clock,
    env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
  });
  const counts = new Map<string, Count>();
  await atRest(service);
  for (const { operation, name, prepare } of inV2) {
    const person = await service.person();
    const caller = await holderOf(service, person, operation);
    for (let round = 0; round < 3; round++) {
      const body = await prepare(person, service.store);
      const before = { statements: service.statements.length, roundTrips: service.roundTrips() };
      const reply = await caller.v2(name, body);
      expect(`${name} ${JSON.stringify(reply.body.error ?? "ok")}`).toBe(`${name} "ok"`);
      const count = {
        statements: service.statements.length - before.statements,
        roundTrips: service.roundTrips() - before.roundTrips,
      };
      counts.set(name, fewest(count, counts.get(name)));
    }
  }
  return counts;
}

test.skipIf(postgresTemplate === undefined)(
  "a call executes as many statements as the golden file states, including BEGIN and COMMIT, in as many round trips to PostgreSQL",
  async () => {
    const [sqlite, postgresql] = await Promise.all(databaseKinds.map(countsOn));
    const lines = inV2.map(({ name, operation: { method } }) => {
      const [onSqlite, onPostgres] = [sqlite?.get(name), postgresql?.get(name)];
      return `${name.padEnd(20)} ${onSqlite?.statements}  ${onPostgres?.statements}  ${method.methodKind === "unary" ? onPostgres?.roundTrips : "-"}`;
    });
    expectGolden(
      "round-trips.txt",
      `${["operation            sqlite  postgresql  round trips", ...lines].join("\n")}\n`,
    );
  },
);
