import { expect, test } from "vitest";
import { schema } from "../../src/gen/prisma/tables.ts";
import type { Person, Service } from "../support/service.ts";

/** A column that a migration adds to every table: SQLite has this one without a migration. */
for (const { columns } of Object.values(schema)) Object.assign(columns, { invented: ["rowid", "integer"] });

// All other modules read the schema when they are loaded.
const { operationTable } = await import("../../src/pipeline/operations.ts");
const { entryOf } = await import("../operations/registry.ts");
const { openTestStore } = await import("../support/database.ts");
const { openDirect } = await import("../support/direct.ts");
const { openService } = await import("../support/service.ts");
const { callerOf } = await import("../wires/call.ts");
const { keyringOf } = await import("../wires/keyring.ts");

/** Operations that this test cannot call, with the reason. */
const left: Readonly<Record<string, string>> = {
  "file.v2.FileService/ListFiles": "its statement selects of a subquery, which has no rowid",
  "settings.v1.TeamService/ListGroups": "the same",
  "settings.v1.ApiKeyService/CreateApiKey": "the person has as many keys as there may be",
};
/**
 * The calls of a worker are about a run, which the others end. After a transfer the owner's key has fewer
 * permissions.
 */
const placeOf = ({ rpc }: { readonly rpc: string }): number =>
  Number(rpc === "settings.v1.TeamService/TransferOwnership");
const unary = operationTable()
  .all.filter(
    ({ method, rpc, access }) =>
      // Those of operators need a session.
      !access?.operator &&
      method.methodKind === "unary" &&
      !rpc.startsWith("worker.v1.") &&
      !Object.hasOwn(left, rpc),
  )
  .toSorted((a, b) => placeOf(a) - placeOf(b));

/** The rows of a table whose statements read all columns. */
async function webhooksOf(store: Service["store"], owner: Person): Promise<readonly object[]> {
  const operation = operationTable().byName("webhook.delete");
  if (operation) await entryOf(operation).prepare(owner, store);
  return store.webhooks.list(owner);
}

test("a column that a migration adds to every table reaches no answer, no audit row and no stored JSON", {
  timeout: 120_000,
}, async () => {
  await using database = await openTestStore("sqlite");
  await using service = await openService({
    over: database,
    idle: true,
    env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
  });
  const keyring = await keyringOf(service);
  const answers: string[] = [];
  for (const operation of unary) {
    const person = await service.person({ as: keyring.owner, with: keyring.owner });
    const json = await entryOf(operation).prepare(person, service.store);
    const wire = operation.name === null ? "connect-json" : "v2";
    const { outcome, message, body } = await callerOf(service.url)(wire, operation, {
      headers: keyring.permitted(operation),
      json,
    });
    expect(`${operation.rpc} ${outcome} ${message}`).toBe(`${operation.rpc} ok `);
    answers.push(JSON.stringify(body, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
  }
  const [webhook = {}] = await webhooksOf(service.store, keyring.owner);
  expect(webhook).toHaveProperty("invented");
  expect(answers.filter((answer) => answer.includes("invented"))).toEqual([]);
  await using beside = await openDirect(database);
  for (const { name, columns } of Object.values(schema)) {
    const stored = Object.values<readonly [string, string]>(columns).flatMap(([column, kind]) =>
      kind === "json" ? [column] : [],
    );
    if (stored.length === 0) continue;
    expect(
      JSON.stringify(await beside.query(`SELECT ${stored.join(", ")} FROM ${name}`)),
      name,
    ).not.toContain("invented");
  }
});
