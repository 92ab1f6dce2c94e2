import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopeNames } from "../../src/core/accounts/caller.ts";
import type { Tx } from "../../src/core/store.ts";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { sampleConnector } from "../store/samples.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { codeFor, exchangeCode, putApp } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { hasSessions } from "./access.ts";
import { type Answer, type CallOver, callerOf, refused, servedBy, type Wire, wires } from "./call.ts";
import type { CredentialHeaders } from "./credentials.ts";

/** A credential that works, and how it is revoked: in this process, and by one statement of another. */
interface Revocable {
  readonly headers: CredentialHeaders;
  readonly inside: (tx: Tx) => Promise<unknown>;
  readonly outside: string;
}

const now = Date.now();
const key = (person: Person): CredentialHeaders => ({ "x-service-api-key": person.key });

async function tokenOf(service: Service, person: Person) {
  const of = await putApp(service, person, {
    scopes: scopeNames.filter((name) => name !== "use_connectors"),
  });
  const { body } = await exchangeCode(
    service,
    of,
    "pkce+secret",
    await codeFor(service, person, of, "pkce+secret"),
  );
  const grant = await service.store.grants.find({ ...person, clientId: of.app.clientId });
  return {
    headers: { authorization: `Bearer ${body.access_token}` },
    clientId: of.app.clientId,
    grantId: grant?.id ?? "",
  };
}

/** The holder's membership ends: every credential of it does. */
const removal = ({ accountId, spaceId }: Person): Pick<Revocable, "inside" | "outside"> => ({
  async inside(tx) {
    const member = await tx.accounts.member(`team-${spaceId}`, accountId);
    await tx.members.update(spaceId, member?.id ?? "", { status: "removed", removedAt: now });
  },
  outside: `UPDATE membership SET status = 'removed', removed_at = 1 WHERE account_id = '${accountId}'`,
});

type Make = (service: Service, person: Person) => Promise<Revocable>;

const revocables: Readonly<Record<string, Make>> = {
  "a key": async (_, person) => ({
    headers: key(person),
    inside: (tx) => tx.keys.revoke(person.keyId, now),
    outside: `UPDATE api_key SET revoked_at = 1 WHERE id = '${person.keyId}'`,
  }),
  "the member of a key": async (_, person) => ({ headers: key(person), ...removal(person) }),
  "a session": async (_, person) => {
    const { id, headers } = await person.session();
    return {
      headers,
      inside: (tx) => tx.sessions.end(id),
      outside: `DELETE FROM session WHERE id = '${id}'`,
    };
  },
  "the member of a session": async (_, person) => ({
    headers: (await person.session()).headers,
    ...removal(person),
  }),
  "the tokens of a grant": async (service, person) => {
    const { headers, grantId } = await tokenOf(service, person);
    const outside = `UPDATE oauth_family SET revoked_at = 1, access_id = NULL WHERE grant_id = '${grantId}'`;
    return { headers, inside: (tx) => tx.families.revokeAll(person.accountId, person.spaceId, now), outside };
  },
  "a grant": async (service, person) => {
    const { headers, grantId } = await tokenOf(service, person);
    const outside = `UPDATE oauth_grant SET revoked_at = 1 WHERE id = '${grantId}'`;
    return { headers, inside: (tx) => tx.grants.revoke(grantId, now), outside };
  },
  "the app of a token": async (service, person) => {
    const { headers, clientId } = await tokenOf(service, person);
    const outside = `UPDATE oauth_app SET deleted_at = 1 WHERE client_id = '${clientId}'`;
    return { headers, inside: (tx) => tx.apps.remove(clientId, now), outside };
  },
  "the member of a token": async (service, person) => ({
    headers: (await tokenOf(service, person)).headers,
    ...removal(person),
  }),
  "a worker": async (service, person) => {
    const { id, secret } = await createWorker(service, person);
    const outside = `UPDATE worker SET revoked_at = 1 WHERE id = '${id}'`;
    return {
      headers: { "x-api-key": secret },
      inside: (tx) => tx.workers.revoke(person.spaceId, id, now),
      outside,
    };
  },
};

const table = operationTable();
const isPoll = ({ method }: Operation) => rpcName(method) === "worker.v1.WorkerService/Poll";
const operationFor = (what: string): Operation =>
  (what === "a worker" ? table.all.find(isPoll) : table.byName("user.me")) ??
  expect.fail("the operation is gone");
const serves = (wire: Wire, what: string): boolean =>
  servedBy(wire).includes(operationFor(what)) &&
  (!what.endsWith("session") || hasSessions(wire, operationFor(what)));

/**
 * Every revocation over every wire by each of both; a short run has each revocation over some of the wires.
 */
const cases = Object.entries(revocables).flatMap(([what, make], index) =>
  (["this process", "another process"] as const).flatMap((by, turn) => {
    const served = wires.filter((wire) => serves(wire, what));
    return share(served, index + turn, served.length).map((wire) => ({ what, make, by, wire }));
  }),
);

const scopeOf = ({ accountId, spaceId }: Person) => ({ accountId, spaceId });
const connectorList = table.byName("connector.list") ?? expect.fail("the operation is gone");
const wiresOfConnectors = wires.filter((wire) => servedBy(wire).includes(connectorList));

describe("the call after a revocation on SQLite", () => {
  let database: TestStore;
  let service: Service;
  let call: CallOver;

  beforeAll(async () => {
    database = await openTestStore("sqlite");
    service = await openService({ over: database, idle: true });
    call = callerOf(service.url);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const revoke = async (
    by: (typeof cases)[number]["by"],
    { inside, outside }: Revocable,
  ): Promise<unknown> =>
    by === "this process" ? service.store.change(inside) : runDirectly(database, outside);

  test.each(cases)("of $what by $by is refused over $wire", async ({ what, make, by, wire }) => {
    const person = await service.person();
    const revocable = await make(service, person);
    const ask = (): Promise<Answer> => call(wire, operationFor(what), { headers: revocable.headers });
    expect((await ask()).outcome).toBe("ok");
    await revoke(by, revocable);
    expect((await ask()).outcome).toBe(refused("unauthenticated", wire));
  });

  test.each(share(wiresOfConnectors, 0, 3))("of a connector does not list it over %s", async (wire) => {
    for (const by of ["this process", "another process"] as const) {
      const person = await service.person();
      const [id, name] = [`c-${person.keyId}`, "Garden of the team"];
      await service.store.change((tx) =>
        tx.connectors.insert(sampleConnector({ ...scopeOf(person), id, name })),
      );
      const list = async (): Promise<string> =>
        JSON.stringify((await call(wire, connectorList, { headers: key(person) })).body);
      expect(await list()).toContain(name);
      await revoke(by, {
        headers: {},
        inside: (tx) => tx.connectors.tombstone(id, now),
        outside: `UPDATE connector SET deleted_at = 1 WHERE id = '${id}'`,
      });
      expect(await list()).not.toContain(name);
    }
  });
});
