import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { type KeyKind, keyKinds } from "../../src/core/caller.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { type ScopeName, scopeNames } from "../../src/core/oauth/scope.ts";
import { Access_Credential, Access_Role } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation } from "../../src/operations.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { handOf } from "../workers/worker-rig.ts";
import { credentialOf } from "./access.ts";
import { type Answer, type CallOver, callerOf, refused, servedBy, type Wire } from "./call.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";

/** Whom a credential shows, as far as access depends on it. */
type Holder =
  | { readonly kind: "nobody"; readonly why: string }
  | { readonly kind: "two" }
  | { readonly kind: "key"; readonly keyKind: KeyKind; readonly role: Role | null }
  | { readonly kind: "worker" }
  | { readonly kind: "session"; readonly role: Role | null }
  | { readonly kind: "token"; readonly scopes: readonly ScopeName[] };

const roleValue = (role: Role): Access_Role => Access_Role[role.toUpperCase() as keyof typeof Access_Role];

const letIn = "let in";
const unauthenticated = (wire: Wire, why: string): string => `${refused("unauthenticated", wire)}: Invalid or missing API key${why}`;
const missing = " or access token: missing authentication";

/** What the descriptors say that a credential gets: the whole of access, said a second time. */
function verdict(wire: Wire, { access, method }: Operation, holder: Holder): string {
  if (access === null) return letIn;
  if (holder.kind === "nobody") return unauthenticated(wire, holder.why);
  if (holder.kind === "two") return `${refused("invalid", wire)}: a request carries one credential, this one carries two`;
  if (holder.kind === "token") return tokenVerdict(wire, access, holder.scopes);
  // A session is a credential of Connect's plain calls alone (contract/decisions.md 35).
  if (holder.kind === "session" && (!wire.startsWith("connect") || method.methodKind !== "unary")) return unauthenticated(wire, missing);
  if (holder.kind === "worker") return access.credentials.has(Access_Credential.WORKER) ? letIn : refused("forbidden", wire);
  const credential = holder.kind === "session" ? Access_Credential.SESSION : credentialOf[holder.keyKind];
  const ofPeople = credential === Access_Credential.SESSION || credential === Access_Credential.API_KEY;
  const roleFits = holder.role === null ? access.personal : access.roles.has(roleValue(holder.role));
  const hasRole = !ofPeople || access.roles.size === 0 || roleFits;
  return access.credentials.has(credential) && hasRole ? letIn : refused("forbidden", wire);
}

function tokenVerdict(wire: Wire, access: NonNullable<Operation["access"]>, scopes: readonly ScopeName[]): string {
  const forbidden = `${refused("forbidden", wire)}: insufficient_scope: `;
  if (!access.credentials.has(Access_Credential.OAUTH)) return `${forbidden}this operation accepts an API key only`;
  const enough = access.anyScope.length === 0 || access.anyScope.some((scope) => scopes.includes(scope));
  return enough ? letIn : `${forbidden}required one of [${access.anyScope.join(", ")}]`;
}

/** What an answer shows of access: what lies behind it says nothing here, and of kinds of key table.test.ts reads the text. */
function seen(wire: Wire, { outcome, message }: Answer): string {
  const says = [refused("unauthenticated", wire), "400 invalid_argument", "InvalidArgument"].includes(outcome);
  const ofAccess =
    outcome === refused("forbidden", wire) || (says && /credential/.test(message)) || outcome === refused("unauthenticated", wire);
  if (!ofAccess) return letIn;
  const told = outcome === refused("forbidden", wire) && !message.startsWith("insufficient_scope");
  return told ? outcome : `${outcome}: ${message}`;
}

const revoked = " or access token: bearer token is invalid or revoked";

describe.each(["connect-json", "grpc", "v2"] as const)("over %s every operation answers as its descriptor says to", (wire) => {
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

  /** All operations with one credential; those that end what it rests on come last. */
  async function answers(headers: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
    const all: Record<string, string> = {};
    for (const operation of servedBy(wire)) all[operation.rpc] = seen(wire, await call(wire, operation, { headers }));
    return all;
  }

  const expected = (holder: Holder) =>
    Object.fromEntries(servedBy(wire).map((operation) => [operation.rpc, verdict(wire, operation, holder)]));

  test.each<[what: string, headers: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>, why: string]>([
    ["no credential", () => ({}), missing],
    ["a malformed key", () => ({ "x-service-api-key": "sk-no-key" }), ""],
    ["a mistyped key", () => ({ "x-service-api-key": `${of.owner.key.slice(0, -1)}${of.owner.key.endsWith("A") ? "B" : "A"}` }), ""],
    ["a key that nobody has", () => ({ "x-service-api-key": newKeyText(systemRandom) }), ""],
    ["a revoked key", () => of.revokedKey(), ""],
    ["an expired key", () => of.expiredKey(), ""],
    ["a removed member's key", () => of.removedMembersKey(), ""],
    ["a token that is none", () => ({ authorization: "Bearer abc" }), " or access token: invalid token"],
    ["a token of another installation", () => of.foreignToken(), " or access token: invalid token"],
    ["an expired token", () => of.expiredToken(), revoked],
    ["a revoked token", () => of.revokedToken(), revoked],
    ["a token that was refreshed away", () => of.refreshedToken(), revoked],
    ["a token of a revoked grant", () => of.tokenOfRevokedGrant(), revoked],
    ["a token of a deleted app", () => of.tokenOfDeletedApp(), revoked],
    ["a token of a removed member", () => of.tokenOfRemovedMember(), revoked],
    ["a token of before the app's expansion", () => of.tokenOfEarlierGeneration(), " or access token: reauthorization_required"],
    ["a session that was ended", () => of.endedSession(), missing],
    ["a session that expired", () => of.expiredSession(), missing],
    ["a session of another site's page", () => of.sessionFromElsewhere(), missing],
  ])("%s", async (_what, headers, why) => {
    expect(await answers(await headers())).toEqual(expected({ kind: "nobody", why }));
  });

  test("two credentials", async () => {
    const key = { "x-service-api-key": of.owner.key };
    for (const other of [{ "x-manus-api-key": newKeyText(systemRandom) }, await of.token(scopeNames)])
      expect(await answers({ ...key, ...other })).toEqual(expected({ kind: "two" }));
  });

  test.each(["x-api-key", "authorization"])("a worker's credential as %s", async (header) => {
    const { secret } = await handOf(service, of.owner);
    const shown = header === "authorization" ? `Bearer ${secret}` : secret;
    expect(await answers({ [header]: shown })).toEqual(expected({ kind: "worker" }));
  });

  test("a worker's credential that was revoked, or is mistyped", async () => {
    const { id, secret } = await handOf(service, of.owner);
    await service.store.change((tx) => tx.workers.revoke(of.owner.spaceId, id, Date.now()));
    for (const shown of [secret, `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`])
      expect(await answers({ "x-api-key": shown })).toEqual(expected({ kind: "nobody", why: "" }));
  });

  test.each(keyKinds)("a key of the kind %s", async (keyKind) => {
    expect(await answers(await of.key(keyKind))).toEqual(expected({ kind: "key", keyKind, role: "owner" }));
  });

  test.each([...roles, null])("a general key of the role %s", async (role) => {
    expect(await answers(await of.keyOfRole(role))).toEqual(expected({ kind: "key", keyKind: "general", role }));
  });

  test.each([...roles, null])("a session of the role %s", async (role) => {
    expect(await answers(await of.sessionOfRole(role))).toEqual(expected({ kind: "session", role }));
  });

  test("a session beside a key or a token, which counts alone", async () => {
    const session = await of.sessionOfRole("owner");
    expect(await answers({ ...session, ...(await of.key("siem")) })).toEqual(expected({ kind: "key", keyKind: "siem", role: "owner" }));
    expect(await answers({ ...session, ...(await of.token(["create_project"])) })).toEqual(
      expected({ kind: "token", scopes: ["create_project"] }),
    );
  });

  test.each([[[]], ...scopeNames.map((scope) => [[scope]]), [scopeNames]] as [
    readonly ScopeName[],
  ][])("a token with %j", async (scopes) => {
    expect(await answers(await of.token(scopes))).toEqual(expected({ kind: "token", scopes }));
  });
});
