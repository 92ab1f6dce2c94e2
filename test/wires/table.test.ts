import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { type KeyKind, keyKinds } from "../../src/core/caller.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { Access_Credential, Access_Role } from "../../src/gen/proto/platform/options/v1/options_pb.ts";
import type { Operation } from "../../src/operations.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { built } from "./built.ts";
import { type Answer, type Call, callerOf, type CallOver, refused, servedBy, type Wire, wires } from "./call.ts";

const credentialOf: Record<KeyKind, Access_Credential> = {
  general: Access_Credential.API_KEY,
  ediscovery: Access_Credential.EDISCOVERY,
  siem: Access_Credential.SIEM,
  team_user_mgmt: Access_Credential.TEAM_USER_MGMT,
  team_asset_audit: Access_Credential.TEAM_ASSET_AUDIT,
  team_asset_mgmt: Access_Credential.TEAM_ASSET_MGMT,
};
const labels: Partial<Record<Access_Credential, string>> = {
  [Access_Credential.API_KEY]: "general API key",
  [Access_Credential.EDISCOVERY]: "e-Discovery & legal hold key",
  [Access_Credential.SIEM]: "SIEM key",
  [Access_Credential.TEAM_USER_MGMT]: "Team User Management key",
  [Access_Credential.TEAM_ASSET_AUDIT]: "Team Asset Audit key",
  [Access_Credential.TEAM_ASSET_MGMT]: "Team Asset Management key",
};
const roleOf: Record<Role, Access_Role> = {
  owner: Access_Role.OWNER,
  super_admin: Access_Role.SUPER_ADMIN,
  admin: Access_Role.ADMIN,
  member: Access_Role.MEMBER,
  guest: Access_Role.GUEST,
};

const takes = ({ access }: Operation, kind: KeyKind, role: Role | null): boolean => {
  if (!access?.credentials.has(credentialOf[kind])) return false;
  return kind !== "general" || access.keyRoles.size === 0 || (role !== null && access.keyRoles.has(roleOf[role]));
};

/** A kind of key that opens an operation in the owner's hand. */
const kindFor = (operation: Operation): KeyKind => keyKinds.find((kind) => takes(operation, kind, "owner")) ?? "general";

const isBuilt = ({ name }: Operation): boolean => name !== null && name in built;

const withKey = (key: string): Call => ({ headers: { "x-service-api-key": key } });

/** One outcome per operation, so that a difference shows which. */
type Outcomes = Record<string, string>;

/** Calls every operation that a wire serves, all at once. */
async function overAll(call: CallOver, wire: Wire, callOf: (operation: Operation) => Call, see: (answer: Answer) => string): Promise<Outcomes> {
  const pairs = servedBy(wire).map(async (operation) => [operation.rpc, see(await call(wire, operation, callOf(operation)))] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

const expected = (wire: Wire, of: (operation: Operation) => string): Outcomes =>
  Object.fromEntries(servedBy(wire).map((operation) => [operation.rpc, of(operation)]));

const whole = ({ outcome, message }: Answer): string => (outcome === "ok" ? "let in" : `${outcome}: ${message}`);
/** What is let in is answered, or not built, or does not find what the sample names. */
const access = ({ outcome }: Answer): string => (["ok", "404 not_found", "NotFound", "400 invalid_argument", "InvalidArgument"].includes(outcome) ? "let in" : outcome);
const letIn = (operation: Operation, wire: Wire): string => (isBuilt(operation) ? "let in" : refused("unimplemented", wire));

describe.each(wires)("every operation over %s", (wire) => {
  const missing = "Invalid or missing API key";
  let service: Service;
  let call: CallOver;
  let owner: Person;
  const keys = new Map<KeyKind, string>();
  const forOwner = (operation: Operation): Call => withKey(keys.get(kindFor(operation)) ?? "");

  beforeAll(async () => {
    service = await openService({ idle: true });
    call = callerOf(service.url);
    owner = await service.person();
    for (const kind of keyKinds) keys.set(kind, (await service.person({ as: owner, with: owner, kind })).key);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const answers = (callOf: (operation: Operation) => Call, see = whole) => overAll(call, wire, callOf, see);

  test.each<[what: string, headers: Record<string, string>, why: string]>([
    ["no credential", {}, `${missing} or access token: missing authentication`],
    ["an empty credential", { "x-service-api-key": " ", authorization: "Bearer" }, `${missing} or access token: missing authentication`],
    ["a scheme that is not ours", { authorization: "Basic c2stOg==" }, `${missing} or access token: missing authentication`],
    ["a text that is no key", { "x-service-api-key": "sk-secret" }, missing],
    ["a mistyped key", { "x-service-api-key": newKeyText(systemRandom).replace(/.$/, "!") }, missing],
    ["a key that nobody has", { "x-service-api-key": newKeyText(systemRandom) }, missing],
    ["a token that is none", { authorization: "Bearer abc" }, `${missing} or access token: invalid token`],
  ])("is refused to %s", async (_what, headers, why) => {
    expect(await answers(() => ({ headers }))).toEqual(expected(wire, () => `${refused("unauthenticated", wire)}: ${why}`));
  });

  test("takes no key for a token", async () => {
    const asBearer = (operation: Operation) => ({ headers: { authorization: `Bearer ${forOwner(operation).headers?.["x-service-api-key"] ?? ""}` } });
    expect(await answers(asBearer)).toEqual(expected(wire, () => `${refused("unauthenticated", wire)}: ${missing} or access token: invalid token`));
  });

  test.each([
    ["two keys", (key: string, other: string) => ({ "x-service-api-key": key, "x-manus-api-key": other })],
    ["two keys in one header", (key: string, other: string) => ({ "x-api-key": `${key}, ${other}` })],
    ["a key and a token", (key: string) => ({ "x-manus-api-key": key, authorization: "Bearer abc" })],
  ])("refuses to guess between %s", async (_what, headersOf) => {
    const two = (operation: Operation) => ({ headers: headersOf(keys.get(kindFor(operation)) ?? "", owner.key) });
    const why = "a request carries one credential, this one carries two";
    expect(await answers(two)).toEqual(expected(wire, () => `${refused("invalid", wire)}: ${why}`));
  });

  test.each([
    ["x-service-api-key"],
    ["x-manus-api-key"],
    ["x-api-key"],
    ["X-API-Key"],
  ])("takes the key in %s", async (header) => {
    const named = (operation: Operation) => ({ headers: { [header]: keys.get(kindFor(operation)) ?? "" } });
    expect(await answers(named, access)).toEqual(expected(wire, (operation) => letIn(operation, wire)));
  });

  test.each([
    ["two headers", (key: string) => ({ "x-service-api-key": key, "x-manus-api-key": key })],
    ["three headers", (key: string) => ({ "x-service-api-key": key, "x-manus-api-key": key, "x-api-key": key })],
    ["one header twice", (key: string) => ({ "x-service-api-key": `${key}, ${key}` })],
    ["a key header and as a token", (key: string) => ({ "x-service-api-key": key, authorization: `Bearer ${key}` })],
  ])("takes the same key in %s for one credential", async (_what, headersOf) => {
    const twice = (operation: Operation) => ({ headers: headersOf(keys.get(kindFor(operation)) ?? "") });
    expect(await answers(twice, access)).toEqual(expected(wire, (operation) => letIn(operation, wire)));
  });

  test("is refused to a revoked key, an expired one, and one whose holder is no member any more", async () => {
    const revoked = await service.person();
    await service.store.change((tx) => tx.keys.revoke(revoked.keyId, Date.now()));
    const expired = await service.person({ expiresAt: Date.now() - 1 });
    const stranger = await service.person();
    const elsewhere = await service.person();
    const outsider = await service.person({ as: stranger, with: elsewhere, member: false });
    for (const { key } of [revoked, expired, outsider]) {
      expect(await answers(() => withKey(key))).toEqual(expected(wire, () => `${refused("unauthenticated", wire)}: ${missing}`));
    }
  });

  test("lets a key in until the moment it expires", async () => {
    const living = await service.person({ expiresAt: Date.now() + 60_000 });
    const opens = (operation: Operation) => (takes(operation, "general", "owner") ? letIn(operation, wire) : refused("forbidden", wire));
    expect(await answers(() => withKey(living.key), access)).toEqual(expected(wire, opens));
  });

  describe("lets in the kinds of key that the table names:", () => {
    test.each(keyKinds)("%s", async (kind) => {
      const opens = (operation: Operation) => (takes(operation, kind, "owner") ? letIn(operation, wire) : refused("forbidden", wire));
      expect(await answers(() => withKey(keys.get(kind) ?? ""), access)).toEqual(expected(wire, opens));
    });

    test("and names the kinds needed to all others", async () => {
      for (const operation of servedBy(wire)) {
        const wrong = keyKinds.find((kind) => !operation.access?.credentials.has(credentialOf[kind])) ?? "general";
        const { outcome, message } = await call(wire, operation, withKey(keys.get(wrong) ?? ""));
        expect(outcome, operation.rpc).toBe(refused("forbidden", wire));
        const needed = [...(operation.access?.credentials ?? [])].flatMap((credential) => labels[credential] ?? []);
        for (const label of Object.values(labels)) expect(message.includes(label), `${operation.rpc}: ${message}`).toBe(needed.includes(label));
      }
    });
  });

  describe("lets in the roles that the table names:", () => {
    test.each(roles)("%s", async (role) => {
      const { key } = await service.person({ role });
      const opens = (operation: Operation) => (takes(operation, "general", role) ? letIn(operation, wire) : refused("forbidden", wire));
      expect(await answers(() => withKey(key), access)).toEqual(expected(wire, opens));
    });

    test("nobody, in a personal space", async () => {
      const { key } = await service.person({ personal: true });
      const opens = (operation: Operation) => (takes(operation, "general", null) ? letIn(operation, wire) : refused("forbidden", wire));
      expect(await answers(() => withKey(key), access)).toEqual(expected(wire, opens));
    });
  });

  describe("that is not built", () => {
    const unbuilt = servedBy(wire).filter((operation) => !isBuilt(operation));
    /** A request that breaks a rule of a field, where the operation has any. */
    const broken = (operation: Operation): JsonObject | undefined => {
      const field = operation.method.input.fields.find(({ scalar }) => scalar === 9);
      return field && { [field.name]: "\0" };
    };

    test("answers unimplemented to a sound call", async () => {
      expect(unbuilt.length).toBeGreaterThan(0);
      for (const operation of unbuilt) {
        const { outcome, message } = await call(wire, operation, forOwner(operation));
        expect(`${operation.rpc} ${outcome}: ${message}`).toBe(`${operation.rpc} ${refused("unimplemented", wire)}: ${operation.name ?? operation.rpc} is not built yet`);
      }
    });

    test("looks at credential, access and fields first", async () => {
      for (const operation of unbuilt) {
        const json = broken(operation);
        if (json === undefined) continue;
        const wrong = keyKinds.find((kind) => !takes(operation, kind, "owner")) ?? "siem";
        const outcomes = [
          await call(wire, operation, { json }),
          await call(wire, operation, { ...withKey(keys.get(wrong) ?? ""), json }),
          await call(wire, operation, { ...forOwner(operation), json }),
        ].map(({ outcome }) => outcome);
        expect([operation.rpc, ...outcomes]).toEqual([operation.rpc, refused("unauthenticated", wire), refused("forbidden", wire), refused("invalid", wire)]);
      }
    });
  });
});

describe.each(wires)("the rate limit over %s", (wire) => {
  test("of every operation is counted, told, and refused past it, before the fields are looked at", async () => {
    await using service = await openService({ idle: true, clock: stillClock(quarterPast), env: { RATE_LIMITS: "0.001" } });
    const call = callerOf(service.url);
    const owner = await service.person();
    const keys = new Map<KeyKind, string>();
    for (const kind of keyKinds) keys.set(kind, (await service.person({ as: owner, with: owner, kind })).key);
    const forOwner = (operation: Operation) => withKey(keys.get(kindFor(operation)) ?? "");
    const told = ({ headers }: Answer) =>
      ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) => headers.get(name)).join(" ");

    expect(await overAll(call, wire, forOwner, (answer) => `${access(answer)} ${told(answer)}`)).toEqual(
      expected(wire, (operation) => `${letIn(operation, wire)} 1 0 45 `),
    );
    const over = `${refused("limited", wire)} 1 0 45 45: rate limit of 1 calls a minute exceeded`;
    const whatever = { json: {} };
    expect(await overAll(call, wire, (operation) => ({ ...forOwner(operation), ...whatever }), (answer) => `${answer.outcome} ${told(answer)}: ${answer.message}`)).toEqual(
      expected(wire, () => over),
    );
  });
});
