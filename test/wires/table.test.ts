import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { keyKinds } from "../../src/core/caller.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation } from "../../src/operations.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { canOpen, hasSessions, takes, takesKey, takesSession } from "./access.ts";
import { built } from "./built.ts";
import { type Answer, type Call, type CallOver, callerOf, refused, servedBy, type Wire, wires } from "./call.ts";
import { type Keyring, keyringOf } from "./keyring.ts";

const labels = new Map<Access_Credential, string>([
  [Access_Credential.SESSION, "signed-in session"],
  [Access_Credential.API_KEY, "general API key"],
  [Access_Credential.EDISCOVERY, "e-Discovery & legal hold key"],
  [Access_Credential.SIEM, "SIEM key"],
  [Access_Credential.TEAM_USER_MGMT, "Team User Management key"],
  [Access_Credential.TEAM_ASSET_AUDIT, "Team Asset Audit key"],
  [Access_Credential.TEAM_ASSET_MGMT, "Team Asset Management key"],
  [Access_Credential.WORKER, "worker credential"],
]);

/** The kinds of key that a text names, and those that an operation takes. */
const kindsIn = (text: string): string => [...labels.values()].filter((label) => text.includes(label)).join();
const kindsOf = ({ access }: Operation): string =>
  [...labels].flatMap(([kind, label]) => (access?.credentials.has(kind) ? [label] : [])).join();

const isBuilt = ({ name, rpc }: Operation): boolean => (name ?? rpc) in built;

const withKey = (key: string): Call => ({ headers: { "x-service-api-key": key } });

/** One outcome per operation, so that a difference shows which. */
type Outcomes = Record<string, string>;

type Among = (operation: Operation) => boolean;
const whatever: Among = () => true;

/** Calls every operation that a wire serves, all at once. */
async function overAll(
  call: CallOver,
  wire: Wire,
  callOf: (operation: Operation) => Call,
  see: (answer: Answer) => string,
  among = whatever,
): Promise<Outcomes> {
  const pairs = servedBy(wire)
    .filter(among)
    .map(async (operation) => [operation.rpc, see(await call(wire, operation, callOf(operation)))] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

const expected = (wire: Wire, of: (operation: Operation) => string, among = whatever): Outcomes =>
  Object.fromEntries(
    servedBy(wire)
      .filter(among)
      .map((operation) => [operation.rpc, of(operation)]),
  );

const whole = ({ outcome, message }: Answer): string => (outcome === "ok" ? "let in" : `${outcome}: ${message}`);

/** What a built operation answers once it was let in: the samples name no task of ours, and no text. */
const ownAnswers: ReadonlySet<string> = new Set([
  ...["ok", "404 not_found", "NotFound", "400 invalid_argument", "InvalidArgument"],
  ...["409 already_exists", "AlreadyExists", "412 failed_precondition", "FailedPrecondition"],
]);
const access = ({ outcome }: Answer): string => (ownAnswers.has(outcome) ? "let in" : outcome);
const letIn = (operation: Operation, wire: Wire): string => (isBuilt(operation) ? "let in" : refused("unimplemented", wire));

describe.each(wires)("every operation over %s", (wire) => {
  const missing = "Invalid or missing API key";
  let service: Service;
  let call: CallOver;
  let keys: Keyring;

  beforeAll(async () => {
    service = await openService({ idle: true });
    call = callerOf(service.url);
    keys = await keyringOf(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const answers = (callOf: (operation: Operation) => Call, see = whole, among = whatever) => overAll(call, wire, callOf, see, among);

  const sessionOpens = (role: Role | null) => (operation: Operation) => {
    if (!hasSessions(wire, operation)) return refused("unauthenticated", wire);
    return takesSession(operation, role) ? letIn(operation, wire) : refused("forbidden", wire);
  };

  test.each<[what: string, headers: Record<string, string>, why: string]>([
    ["no credential", {}, `${missing} or access token: missing authentication`],
    ["a text that is no key", { "x-service-api-key": "sk-secret" }, missing],
    ["a key that nobody has", { "x-service-api-key": newKeyText(systemRandom) }, missing],
    ["a token that is none", { authorization: "Bearer abc" }, `${missing} or access token: invalid token`],
  ])("is refused to %s", async (_what, headers, why) => {
    expect(await answers(() => ({ headers }))).toEqual(expected(wire, () => `${refused("unauthenticated", wire)}: ${why}`));
  });

  test("is not guessed into where a request shows two credentials", async () => {
    const two = (operation: Operation) => ({ headers: { ...keys.opening(operation), "x-manus-api-key": keys.owner.key } });
    const other = (operation: Operation) => ({ headers: { ...keys.opening(operation), authorization: "Bearer abc" } });
    const why = "a request carries one credential, this one carries two";
    for (const callOf of [two, other])
      expect(await answers(callOf, whole, takesKey)).toEqual(expected(wire, () => `${refused("invalid", wire)}: ${why}`, takesKey));
  });

  test("is open to the same key in two headers", async () => {
    const twice = (operation: Operation) => {
      const once = keys.opening(operation);
      return { headers: { ...once, "x-manus-api-key": once["x-service-api-key"] ?? "" } };
    };
    expect(await answers(twice, access, takesKey)).toEqual(expected(wire, (operation) => letIn(operation, wire), takesKey));
  });

  test("is open to a session where the table says so, over Connect alone", async () => {
    expect(await answers(() => ({ headers: keys.session }), access)).toEqual(expected(wire, sessionOpens("owner")));
  });

  test("takes a key for what it is where a session stands beside it", async () => {
    const beside = () => ({ headers: { ...keys.session, "x-service-api-key": keys.owner.key } });
    const opens = (operation: Operation) => (takes(operation, "general", "owner") ? letIn(operation, wire) : refused("forbidden", wire));
    expect(await answers(beside, access)).toEqual(expected(wire, opens));
  });

  test("is refused to a revoked key, an expired one, and one whose holder is no member", async () => {
    const revoked = await service.person();
    await service.store.change((tx) => tx.keys.revoke(revoked.keyId, Date.now()));
    const expired = await service.person({ expiresAt: Date.now() - 1 });
    const outsider = await service.person({ member: false });
    for (const { key } of [revoked, expired, outsider]) {
      expect(await answers(() => withKey(key))).toEqual(expected(wire, () => `${refused("unauthenticated", wire)}: ${missing}`));
    }
  });

  test.each(keyKinds)("is open to %s keys where the table says so, and names the kinds it takes elsewhere", async (kind) => {
    const see = (answer: Answer) =>
      answer.outcome === refused("forbidden", wire) ? `${answer.outcome}: ${kindsIn(answer.message)}` : access(answer);
    const opens = (operation: Operation) =>
      takes(operation, kind, "owner") ? letIn(operation, wire) : `${refused("forbidden", wire)}: ${kindsOf(operation)}`;
    expect(await answers(() => withKey(keys.key(kind)), see)).toEqual(expected(wire, opens));
  });

  test.each([...roles, null])("is open to a general key of the role %s where the table says so", async (role) => {
    const { key } = await service.person(role === null ? { personal: true } : { role });
    const opens = (operation: Operation) => (takes(operation, "general", role) ? letIn(operation, wire) : refused("forbidden", wire));
    const asked = servedBy(wire).filter(({ access: needed, name }) => name === "user.me" || (needed?.roles.size ?? 0) > 0);
    for (const operation of asked)
      expect([operation.rpc, access(await call(wire, operation, withKey(key)))]).toEqual([operation.rpc, opens(operation)]);
  });

  test.each([...roles, null])("is open to a session of the role %s where the table says so", async (role) => {
    const person = await service.person(role === null ? { personal: true } : { role });
    const { headers } = await person.session();
    expect(await answers(() => ({ headers }), access)).toEqual(expected(wire, sessionOpens(role)));
  });

  describe("that is not built", () => {
    const unbuilt = servedBy(wire).filter((operation) => !isBuilt(operation));

    /** A request with a text that no field takes, where the operation has a text. */
    const broken = ({ method }: Operation): JsonObject | undefined => {
      const field = method.input.fields.find(({ scalar }) => scalar === 9);
      return field && { [field.name]: "\0" };
    };

    test("answers unimplemented to a sound call", async () => {
      const sound = (operation: Operation) => ({ headers: keys.opening(operation) });
      const seen = await answers(sound);
      expect(Object.fromEntries(unbuilt.map(({ rpc }) => [rpc, seen[rpc]]))).toEqual(
        Object.fromEntries(unbuilt.map(({ rpc, name }) => [rpc, `${refused("unimplemented", wire)}: ${name ?? rpc} is not built yet`])),
      );
    });

    test("looks at credential, access and fields first", async () => {
      const order = [refused("unauthenticated", wire), refused("forbidden", wire), refused("invalid", wire)];
      for (const operation of unbuilt) {
        const json = broken(operation);
        if (json === undefined) continue;
        const headers = [{}, keys.barred(operation), keys.opening(operation)];
        const seen = await Promise.all(headers.map((shown) => call(wire, operation, { headers: shown, json })));
        expect([operation.rpc, ...seen.map(({ outcome }) => outcome)]).toEqual([operation.rpc, ...order]);
      }
    });
  });
});

describe.each(wires)("the rate limit over %s", (wire) => {
  test("of every operation is counted, told, and refused past it, before the fields are looked at", async () => {
    await using service = await openService({ idle: true, clock: stillClock(quarterPast), env: { RATE_LIMITS: "0.001" } });
    const call = callerOf(service.url);
    const keys = await keyringOf(service);
    const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"];
    const told = ({ headers }: Answer) => names.map((name) => headers.get(name) ?? "-").join(" ");

    const open: Among = (operation) => canOpen(operation, wire);
    // One that counts as another is met by what that other has used up.
    const own: Among = (operation) => open(operation) && operation.countedAs === operation.rpc;
    const first = (operation: Operation) => ({ headers: keys.opening(operation) });
    expect(await overAll(call, wire, first, (answer) => `${access(answer)} ${told(answer)}`, own)).toEqual(
      expected(wire, (operation) => `${letIn(operation, wire)} 1 0 45 -`, own),
    );
    const second = (operation: Operation) => ({ headers: keys.opening(operation), json: {} });
    expect(await overAll(call, wire, second, (answer) => `${whole(answer)} ${told(answer)}`, open)).toEqual(
      expected(
        wire,
        ({ countedWith }) =>
          `${refused("limited", wire)}: rate limit of 1 calls a minute for ${countedWith.join(" and ")} exceeded 1 0 45 45`,
        open,
      ),
    );
  });
});
