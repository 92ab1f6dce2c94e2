import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { keyKinds } from "../../src/core/accounts/caller.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { canOpen, hasSessions, takes, takesKey, takesSession } from "./access.ts";
import {
  type Answer,
  type Call,
  type CallOver,
  callerOf,
  refused,
  someServedBy,
  type Wire,
  wires,
} from "./call.ts";
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

/** The kinds of key that a text names, and those that an operation accepts. */
const kindsIn = (text: string): string => [...labels.values()].filter((label) => text.includes(label)).join();
const kindsOf = ({ access }: Operation): string =>
  [...labels].flatMap(([kind, label]) => (access?.credentials.has(kind) ? [label] : [])).join();

const withKey = (key: string): Call => ({ headers: { "x-service-api-key": key } });

/** One outcome per operation, so that a difference names the operation. */
type Outcomes = Record<string, string>;

/** The number of the test. */
let turn = 0;
beforeEach(() => {
  turn += 1;
});

/** Without operations that need no credential: test/tasks/shared-limits.test.ts has their refusals. */
const servedBy = (wire: Wire) => someServedBy(wire, 12, turn).filter(({ access }) => access !== null);

type Among = (operation: Operation) => boolean;
const all: Among = () => true;

/**
 * Below the most open requests of an HTTP/2 connection: at that number Node may refuse a stream before it has
 * removed an ended one.
 */
const callsAtOnce = 50;

/** Calls every operation that a wire serves, many at once. */
async function overAll(
  call: CallOver,
  wire: Wire,
  callOf: (operation: Operation) => Call,
  see: (answer: Answer) => string,
  among = all,
): Promise<Outcomes> {
  const outcomes: Outcomes = {};
  const pending = servedBy(wire).filter(among).values();
  const callPending = async (): Promise<void> => {
    for (const operation of pending)
      outcomes[operation.rpc] = see(await call(wire, operation, callOf(operation)));
  };
  await Promise.all(Array.from({ length: callsAtOnce }, callPending));
  return outcomes;
}

const expected = (wire: Wire, of: (operation: Operation) => string, among = all): Outcomes =>
  Object.fromEntries(
    servedBy(wire)
      .filter(among)
      .map((operation) => [operation.rpc, of(operation)]),
  );

const outcomeText = ({ outcome, message }: Answer): string =>
  outcome === "ok" ? "admitted" : `${outcome}: ${message}`;

/** Answers of an operation after access was granted: the samples name no existing task, and no text. */
const ownAnswers: ReadonlySet<string> = new Set([
  ...["ok", "404 not_found", "NotFound", "400 invalid_argument", "InvalidArgument"],
  ...["409 already_exists", "AlreadyExists", "412 failed_precondition", "FailedPrecondition"],
]);
const access = ({ outcome }: Answer): string => (ownAnswers.has(outcome) ? "admitted" : outcome);

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

  const answers = (callOf: (operation: Operation) => Call, see = outcomeText, among = all) =>
    overAll(call, wire, callOf, see, among);

  const sessionOpens = (role: Role | null) => (operation: Operation) => {
    if (!hasSessions(wire, operation)) return refused("unauthenticated", wire);
    return takesSession(operation, role) ? "admitted" : refused("permission_denied", wire);
  };

  test.each<[what: string, headers: Record<string, string>, why: string]>([
    [
      "no credential",
      {},
      `${missing} or access token: missing authentication: send a key in x-service-api-key, or a key or access token in Authorization: Bearer`,
    ],
    ["a text that is not a key", { "x-service-api-key": "sk-secret" }, missing],
    ["an unknown key", { "x-service-api-key": newKeyText(systemRandom) }, missing],
    ["a token that is none", { authorization: "Bearer abc" }, `${missing} or access token: invalid token`],
  ])("is refused to %s", async (_what, headers, why) => {
    expect(await answers(() => ({ headers }))).toEqual(
      expected(wire, () => `${refused("unauthenticated", wire)}: ${why}`),
    );
  });

  test("is refused to a request with two credentials", async () => {
    const two = (operation: Operation) => ({
      headers: { ...keys.permitted(operation), "x-manus-api-key": keys.owner.key },
    });
    const other = (operation: Operation) => ({
      headers: { ...keys.permitted(operation), authorization: "Bearer abc" },
    });
    const why = "a request carries one credential, this one carries two";
    for (const callOf of [two, other])
      expect(await answers(callOf, outcomeText, takesKey)).toEqual(
        expected(wire, () => `${refused("invalid_argument", wire)}: ${why}`, takesKey),
      );
  });

  test("is granted to the same key in two headers", async () => {
    const twice = (operation: Operation) => {
      const once = keys.permitted(operation);
      return { headers: { ...once, "x-manus-api-key": once["x-service-api-key"] ?? "" } };
    };
    expect(await answers(twice, access, takesKey)).toEqual(
      expected(wire, (_operation) => "admitted", takesKey),
    );
  });

  test("is granted to a session where the table says so, over Connect alone", async () => {
    expect(await answers(() => ({ headers: keys.session }), access)).toEqual(
      expected(wire, sessionOpens("owner")),
    );
  });

  test("depends only on the key when the request also has a session", async () => {
    const withSession = () => ({ headers: { ...keys.session, "x-service-api-key": keys.owner.key } });
    const opens = (operation: Operation) =>
      takes(operation, "general", "owner") ? "admitted" : refused("permission_denied", wire);
    expect(await answers(withSession, access)).toEqual(expected(wire, opens));
  });

  test("is refused to a revoked key, an expired one, and one whose holder has left the team", async () => {
    const revoked = await service.person();
    await service.store.change((tx) => tx.keys.revoke(revoked.keyId, Date.now()));
    const expired = await service.person({ expiresAt: Date.now() - 1 });
    const outsider = await service.person({ member: false });
    for (const { key } of [revoked, expired, outsider]) {
      expect(await answers(() => withKey(key))).toEqual(
        expected(wire, () => `${refused("unauthenticated", wire)}: ${missing}`),
      );
    }
  });

  test.each(
    keyKinds,
  )("is open to %s keys where the table says so, and names the kinds it takes elsewhere", async (kind) => {
    const see = (answer: Answer) =>
      answer.outcome === refused("permission_denied", wire)
        ? `${answer.outcome}: ${kindsIn(answer.message)}`
        : access(answer);
    const opens = (operation: Operation) =>
      takes(operation, kind, "owner")
        ? "admitted"
        : `${refused("permission_denied", wire)}: ${kindsOf(operation)}`;
    expect(await answers(() => withKey(keys.key(kind)), see)).toEqual(expected(wire, opens));
  });

  test.each([
    ...roles,
    null,
  ])("is open to a general key of the role %s where the table says so", async (role) => {
    const { key } = await service.person(role === null ? { personal: true } : { role });
    const opens = (operation: Operation) =>
      takes(operation, "general", role) ? "admitted" : refused("permission_denied", wire);
    const withRoles = servedBy(wire).filter(
      ({ access: needed, name }) => name === "user.me" || (needed?.roles.size ?? 0) > 0,
    );
    for (const operation of withRoles)
      expect([operation.rpc, access(await call(wire, operation, withKey(key)))]).toEqual([
        operation.rpc,
        opens(operation),
      ]);
  });

  test.each([...roles, null])("is open to a session of the role %s where the table says so", async (role) => {
    const person = await service.person(role === null ? { personal: true } : { role });
    const { headers } = await person.session();
    expect(await answers(() => ({ headers }), access)).toEqual(expected(wire, sessionOpens(role)));
  });
});

describe.each(wires)("the rate limit over %s", (wire) => {
  test("of every operation is counted, reported, and enforced before the fields are checked", async () => {
    await using service = await openService({
      idle: true,
      clock: stillClock(quarterPast),
      env: { RATE_LIMITS: "0.0001" },
    });
    const call = callerOf(service.url);
    const keys = await keyringOf(service);
    const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"];
    const limitsOf = ({ headers }: Answer) => names.map((name) => headers.get(name) ?? "-").join(" ");

    const open: Among = (operation) => canOpen(operation, wire);
    // An operation that counts as another shares its limit: the first of each limit, among those of this
    // wire.
    const firsts = new Map<string, Operation>();
    for (const operation of servedBy(wire).filter(open).toReversed())
      firsts.set(operation.countedAs, operation);
    const own: Among = (operation) => firsts.get(operation.countedAs) === operation;
    const first = (operation: Operation) => ({ headers: keys.permitted(operation) });
    expect(
      await overAll(call, wire, first, (answer) => `${access(answer)} ${limitsOf(answer)}`, own),
    ).toEqual(expected(wire, (_operation) => `${"admitted"} 1 0 45 -`, own));
    const second = (operation: Operation) => ({ headers: keys.permitted(operation), json: {} });
    expect(
      await overAll(call, wire, second, (answer) => `${outcomeText(answer)} ${limitsOf(answer)}`, open),
    ).toEqual(
      expected(
        wire,
        ({ countedWith }) =>
          `${refused("rate_limited", wire)}: rate limit of 1 calls a minute for ${countedWith.join(" and ")} exceeded 1 0 45 45`,
        open,
      ),
    );
  });
});
