import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { type KeyKind, keyKinds, type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { keyScopes } from "../../src/core/accounts/key-scopes.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import type { KeyRestrictions } from "../../src/core/keys/restrictions.ts";
import { Access_Credential, Access_Role } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { askA2a, askPush } from "./a2a.ts";
import { credentialOf } from "./access.ts";
import { type Answer, type CallOver, callerOf, refused, someServedBy, type Wire } from "./call.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";

/** The part of a credential's holder that access depends on. */
type Holder =
  | { readonly kind: "nobody"; readonly why: string }
  | { readonly kind: "two" }
  | {
      readonly kind: "key";
      readonly keyKind: KeyKind;
      readonly role: Role | null;
      readonly limits?: Partial<KeyRestrictions>;
    }
  | { readonly kind: "worker" }
  | { readonly kind: "session"; readonly role: Role | null }
  | { readonly kind: "token"; readonly scopes: readonly ScopeName[] }
  | { readonly kind: "service" };

type Headers = Readonly<Record<string, string>>;
type Invalid = readonly [what: string, headers: (of: Credentials) => Headers | Promise<Headers>, why: string];

/** The number of the test. */
let turn = 0;
beforeEach(() => {
  turn += 1;
});

const servedBy = (wire: Wire) => someServedBy(wire, 12, turn);

const roleValue = (role: Role): Access_Role => Access_Role[role.toUpperCase() as keyof typeof Access_Role];

const admitted = "admitted";
const unauthenticated = (wire: Wire, why: string): string =>
  `${refused("unauthenticated", wire)}: Invalid or missing API key${why}`;
const missing =
  " or access token: missing authentication: send a key in x-service-api-key, or a key or access token in Authorization: Bearer";

/** The access that the descriptors give a credential, written independently of src. */
function verdict(wire: Wire, { access, method }: Operation, holder: Holder): string {
  if (access === null) return admitted;
  if (holder.kind === "nobody") return unauthenticated(wire, holder.why);
  if (holder.kind === "two")
    return `${refused("invalid_argument", wire)}: a request carries one credential, this one carries two`;
  if (holder.kind === "token") return tokenVerdict(wire, access, holder.scopes);
  if (holder.kind === "service")
    return access.keyScope === "task:approve"
      ? `${refused("permission_denied", wire)}: insufficient_scope: a person must decide: this app acts as itself`
      : tokenVerdict(wire, access, ["create_task"]);
  // A session is a credential for Connect's unary calls and server streams only (spec/decisions.md 35, 55).
  if (holder.kind === "session" && (!wire.startsWith("connect") || method.methodKind === "bidi_streaming"))
    return unauthenticated(wire, missing);
  if (holder.kind === "worker")
    return access.credentials.has(Access_Credential.WORKER) ? admitted : refused("permission_denied", wire);
  const credential = holder.kind === "session" ? Access_Credential.SESSION : credentialOf[holder.keyKind];
  const ofPeople = credential === Access_Credential.SESSION || credential === Access_Credential.API_KEY;
  const roleFits = holder.role === null ? access.personal : access.roles.has(roleValue(holder.role));
  const hasRole = !ofPeople || access.roles.size === 0 || roleFits;
  const isWithin = holder.kind !== "key" || isWithinLimits(access, holder.limits ?? {});
  return access.credentials.has(credential) && hasRole && isWithin && !access.operator
    ? admitted
    : refused("permission_denied", wire);
}

/** A key with limits may call what they name; an operation without a scope of keys is open to every key. */
function isWithinLimits(
  access: Pick<NonNullable<Operation["access"]>, "keyScope" | "inProjects">,
  { scopes, projectIds, addressRanges }: Partial<KeyRestrictions>,
): boolean {
  const hasScope = !scopes || access.keyScope === null || scopes.includes(access.keyScope);
  return hasScope && (!projectIds || access.inProjects) && !addressRanges;
}

/**
 * The access to a task by A2A: that of its entrance, then that of task.detail, or of task.sendMessage for a
 * change.
 */
function a2aVerdict(holder: Holder, keyScope: "task:read" | "task:write" = "task:read"): string {
  if (holder.kind === "nobody" || holder.kind === "session") return "unauthenticated";
  if (holder.kind === "two") return "invalid_argument";
  if (holder.kind === "service") return admitted;
  const isAllowed =
    holder.kind === "token"
      ? holder.scopes.some((scope) => scope === "create_task" || scope === "manage_all_tasks")
      : holder.kind === "key" &&
        holder.keyKind === "general" &&
        isWithinLimits({ keyScope, inProjects: true }, holder.limits ?? {});
  return isAllowed ? admitted : "permission_denied";
}

function tokenVerdict(
  wire: Wire,
  access: NonNullable<Operation["access"]>,
  scopes: readonly ScopeName[],
): string {
  const forbidden = `${refused("permission_denied", wire)}: insufficient_scope: `;
  if (!access.credentials.has(Access_Credential.OAUTH))
    return `${forbidden}this operation accepts an API key only`;
  const enough = access.anyScope.length === 0 || access.anyScope.some((scope) => scopes.includes(scope));
  return enough ? admitted : `${forbidden}required one of [${access.anyScope.join(", ")}]`;
}

/**
 * The part of an answer that depends on access. Later refusals do not count; table.test.ts checks the texts
 * about key kinds.
 */
function accessOf(wire: Wire, { outcome, message }: Answer): string {
  const says = [refused("unauthenticated", wire), "400 invalid_argument", "InvalidArgument"].includes(
    outcome,
  );
  const ofAccess =
    outcome === refused("permission_denied", wire) ||
    (says && /credential/.test(message)) ||
    outcome === refused("unauthenticated", wire);
  if (!ofAccess) return admitted;
  const hidesKinds =
    outcome === refused("permission_denied", wire) && !message.startsWith("insufficient_scope");
  return hidesKinds ? outcome : `${outcome}: ${message}`;
}

const revoked = " or access token: bearer token is invalid or revoked";

// A short run has one of them: table.test.ts has the access to operations over every wire.
const tested = share(["connect-json", "grpc", "v2"] as const, 0, 3);

describe.each(tested)("over %s every operation answers as its descriptor says to", (wire) => {
  let database: TestStore;
  let service: Service;
  let call: CallOver;
  let of: Credentials;

  beforeAll(async () => {
    database = await openTestStore("sqlite");
    service = await openService({ over: database, idle: true });
    call = callerOf(service.url);
    of = await credentialsOf(service, database);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** All operations with one credential; those that end the credential run last. */
  async function answers(
    headers: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const all: Record<string, string> = {
      A2A: await askA2a(service.url, wire, headers),
      "A2A push": await askPush(service.url, headers),
    };
    for (const operation of servedBy(wire))
      all[operation.rpc] = accessOf(wire, await call(wire, operation, { headers }));
    return all;
  }

  const expected = (holder: Holder) => ({
    A2A: a2aVerdict(holder),
    "A2A push": a2aVerdict(holder, "task:write"),
    ...Object.fromEntries(
      servedBy(wire).map((operation) => [operation.rpc, verdict(wire, operation, holder)]),
    ),
  });

  test("no credential", async () => {
    expect(await answers({})).toEqual(expected({ kind: "nobody", why: missing }));
  });

  const invalid: readonly Invalid[] = [
    ["a malformed key", () => ({ "x-service-api-key": "sk-no-key" }), ""],
    [
      "a mistyped key",
      (of) => ({
        "x-service-api-key": `${of.owner.key.slice(0, -1)}${of.owner.key.endsWith("A") ? "B" : "A"}`,
      }),
      "",
    ],
    ["an unknown key", () => ({ "x-service-api-key": newKeyText(systemRandom) }), ""],
    ["a revoked key", (of) => of.revokedKey(), ""],
    ["an expired key", (of) => of.expiredKey(), ""],
    ["a removed member's key", (of) => of.removedMembersKey(), ""],
    ["a token that is none", () => ({ authorization: "Bearer abc" }), " or access token: invalid token"],
    ["a token of another installation", (of) => of.foreignToken(), " or access token: invalid token"],
    ["an expired token", (of) => of.expiredToken(), revoked],
    ["a revoked token", (of) => of.revokedToken(), revoked],
    ["a token for the MCP address", (of) => of.mcpToken(), " or access token: invalid token"],
    ["a token that was refreshed away", (of) => of.refreshedToken(), revoked],
    ["a token of a revoked grant", (of) => of.tokenOfRevokedGrant(), revoked],
    ["a token of an app that may no longer act as itself", (of) => of.endedServiceToken(), revoked],
    ["a token of a deleted app", (of) => of.tokenOfDeletedApp(), revoked],
    ["a token of a removed member", (of) => of.tokenOfRemovedMember(), revoked],
    [
      "a token of before the app's expansion",
      (of) => of.tokenOfEarlierGeneration(),
      " or access token: reauthorization_required",
    ],
    ["a session that was ended", (of) => of.endedSession(), missing],
    ["a session that expired", (of) => of.expiredSession(), missing],
    ["a session of another site's page", (of) => of.sessionFromElsewhere(), missing],
  ];

  test.each(invalid)("%s", async (_what, headers, why) => {
    expect(await answers(await headers(of))).toEqual(expected({ kind: "nobody", why }));
  });

  test("two credentials", async () => {
    const key = { "x-service-api-key": of.owner.key };
    for (const other of [{ "x-manus-api-key": newKeyText(systemRandom) }, await of.token(scopeNames)])
      expect(await answers({ ...key, ...other })).toEqual(expected({ kind: "two" }));
  });

  test.each(["x-api-key", "authorization"])("a worker's credential as %s", async (header) => {
    const { secret } = await createWorker(service, of.owner);
    const shown = header === "authorization" ? `Bearer ${secret}` : secret;
    expect(await answers({ [header]: shown })).toEqual(expected({ kind: "worker" }));
  });

  test("a worker's credential that was revoked, or is mistyped", async () => {
    const { id, secret } = await createWorker(service, of.owner);
    await service.store.change((tx) => tx.workers.revoke(of.owner.spaceId, id, Date.now()));
    for (const shown of [secret, `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`])
      expect(await answers({ "x-api-key": shown })).toEqual(expected({ kind: "nobody", why: "" }));
  });

  test.each(keyKinds)("a key of the kind %s", async (keyKind) => {
    expect(await answers(await of.key(keyKind))).toEqual(expected({ kind: "key", keyKind, role: "owner" }));
  });

  // The operations of a subject have at most three scopes.
  test.each(
    share(keyScopes, tested.indexOf(wire), 3).map((scope) => [scope]),
  )("a general key with the scope %s", async (scope) => {
    const limits = { scopes: [scope] };
    expect(await answers(await of.restrictedKey(limits))).toEqual(
      expected({ kind: "key", keyKind: "general", role: "owner", limits }),
    );
  });

  // Without addresses in the range of the caller, no operation is open.
  test.each([
    { projectIds: ["no-project"] },
    { projectIds: ["no-project"], scopes: ["task:read", "webhook:read"] as const },
    { addressRanges: ["192.0.2.0/24", "2001:db8::/32"] },
  ])("a general key limited to %j", async (limits) => {
    expect(await answers(await of.restrictedKey(limits))).toEqual(
      expected({ kind: "key", keyKind: "general", role: "owner", limits }),
    );
  });

  test.each([...roles, null])("a general key of the role %s", async (role) => {
    expect(await answers(await of.keyOfRole(role))).toEqual(
      expected({ kind: "key", keyKind: "general", role }),
    );
  });

  test.each([...roles, null])("a session of the role %s", async (role) => {
    expect(await answers(await of.sessionOfRole(role))).toEqual(expected({ kind: "session", role }));
  });

  test("a session next to a key or a token, which alone counts", async () => {
    const session = await of.sessionOfRole("owner");
    expect(await answers({ ...session, ...(await of.key("siem")) })).toEqual(
      expected({ kind: "key", keyKind: "siem", role: "owner" }),
    );
    expect(await answers({ ...session, ...(await of.token(["create_project"])) })).toEqual(
      expected({ kind: "token", scopes: ["create_project"] }),
    );
  });

  test("a token of an app that acts as itself, which cannot decide on actions", async () => {
    expect(await answers(await of.serviceToken())).toEqual(expected({ kind: "service" }));
  });

  // A short run tests half of the scopes.
  const single = share(scopeNames, tested.indexOf(wire), 2).map((scope) => [scope]);

  test.each([[[]], ...single.map((scope) => [scope]), [scopeNames]] as [
    readonly ScopeName[],
  ][])("a token with %j", async (scopes) => {
    expect(await answers(await of.token(scopes))).toEqual(expected({ kind: "token", scopes }));
  });
});
