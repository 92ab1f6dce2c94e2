import { batchReads } from "../async/batch.ts";
import type { Role } from "../core/accounts/account.ts";
import { type Caller, type CallerCredential, type KeyKind, requireKeyScope, type TokenCredential } from "../core/accounts/caller.ts";
import type { KeyScope } from "../core/accounts/key-scopes.ts";
import { Failure, failureOf } from "../core/failure.ts";
import type { KeyUses } from "../core/keys/api-keys.ts";
import { sessionMs } from "../core/sign-in/sign-in.ts";
import { Access_Credential, Access_Role } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation, OperationAccess } from "../operations.ts";
import type { Admission, Request } from "./admission.ts";
import type { NoteRefusal } from "./audit.ts";
import { noteChallenge } from "./challenge.ts";
import type { Identify } from "./credential.ts";
import type { Limits } from "./limit.ts";

const keyCredentials: Record<KeyKind, Access_Credential> = {
  general: Access_Credential.API_KEY,
  ediscovery: Access_Credential.EDISCOVERY,
  siem: Access_Credential.SIEM,
  team_user_mgmt: Access_Credential.TEAM_USER_MGMT,
  team_asset_audit: Access_Credential.TEAM_ASSET_AUDIT,
  team_asset_mgmt: Access_Credential.TEAM_ASSET_MGMT,
};

/** Readable names with their article, in the order in which a refusal lists them. */
const labels: readonly (readonly [Access_Credential, string])[] = [
  [Access_Credential.SESSION, "a signed-in session"],
  [Access_Credential.API_KEY, "a general API key"],
  [Access_Credential.EDISCOVERY, "an e-Discovery & legal hold key"],
  [Access_Credential.SIEM, "a SIEM key"],
  [Access_Credential.TEAM_USER_MGMT, "a Team User Management key"],
  [Access_Credential.TEAM_ASSET_AUDIT, "a Team Asset Audit key"],
  [Access_Credential.TEAM_ASSET_MGMT, "a Team Asset Management key"],
  [Access_Credential.WORKER, "a worker credential"],
];

/** Only these credentials need a role: the others have fixed permissions. */
const roleCredentials: ReadonlySet<Access_Credential> = new Set([Access_Credential.API_KEY, Access_Credential.SESSION]);

const roleNames: Record<Role, Access_Role> = {
  owner: Access_Role.OWNER,
  super_admin: Access_Role.SUPER_ADMIN,
  admin: Access_Role.ADMIN,
  member: Access_Role.MEMBER,
  guest: Access_Role.GUEST,
};

/**
 * Checks that a caller may use an operation; a refusal names the accepted credentials.
 *
 * @throws Failure `permission_denied`; `insufficient_scope` for a token
 * (spec/decisions.md 2, spec/enterprise.md 1, spec/oauth.md 2.1, 9.2).
 */
function checkAccess(operation: Operation, caller: Caller): void {
  const { access } = operation;
  const { credential, role } = caller;
  if (access === null) return;
  if (credential.kind === "token") checkScopes(access, credential);
  else {
    checkCredential(access, credentialOf(credential), role);
    if (credential.kind === "key") checkRestrictions(access, caller);
    if (access.operator && !(credential.kind === "session" && credential.operator)) throw forbidden(access);
  }
}

function checkCredential(access: OperationAccess, credential: Access_Credential, role: Role | null): void {
  if (!access.credentials.has(credential)) throw forbidden(access);
  const roleNeeded = roleCredentials.has(credential) && access.roles.size > 0;
  const hasRole = role === null ? access.personal : access.roles.has(roleNames[role]);
  if (roleNeeded && !hasRole) throw forbidden(access);
}

/** The decisions that are a person's: an app that acts as itself makes none (spec/api.md 8.114). */
const decidingScope: KeyScope = "task:approve";

function checkScopes({ credentials, anyScope, keyScope }: OperationAccess, { scopes, service }: TokenCredential): void {
  if (!credentials.has(Access_Credential.OAUTH))
    throw new Failure("insufficient_scope", "insufficient_scope: this operation accepts an API key only");
  if (service && keyScope === decidingScope)
    throw new Failure("insufficient_scope", "insufficient_scope: a person must decide: this app acts as itself");
  if (anyScope.length === 0 || anyScope.some((scope) => scopes.includes(scope))) return;
  throw new Failure("insufficient_scope", `insufficient_scope: required one of [${anyScope.join(", ")}]`);
}

/** A key with restrictions may do what they name, and nothing else (spec/api.md 8.108). @throws Failure `permission_denied`. */
function checkRestrictions({ keyScope, inProjects }: OperationAccess, caller: Caller): void {
  // Enterprise keys have no scopes and no projects.
  if (keyScope !== null) requireKeyScope(caller, keyScope);
  if (caller.within !== undefined && !inProjects)
    throw new Failure("permission_denied", "this API key is limited to projects, and this operation reaches more than projects");
}

function credentialOf(credential: Exclude<CallerCredential, TokenCredential>): Access_Credential {
  if (credential.kind === "key") return keyCredentials[credential.keyKind];
  return credential.kind === "worker" ? Access_Credential.WORKER : Access_Credential.SESSION;
}

function forbidden({ credentials, roles, operator }: OperationAccess): Failure {
  if (operator) return new Failure("permission_denied", "this operation takes a signed-in session of an operator of the installation");
  const accepted = labels.filter(([credential]) => credentials.has(credential));
  const names = accepted.map(([credential, label]) => (roleCredentials.has(credential) ? `${label}${roleSuffix(roles)}` : label));
  return new Failure("permission_denied", `this operation takes ${names.join(" or ")}`);
}

function roleSuffix(roles: ReadonlySet<Access_Role>): string {
  const names = Object.entries(roleNames).filter(([, role]) => roles.has(role));
  return names.length === 0 ? "" : ` of the team's ${names.map(([name]) => name.replace("_", " ")).join(" or ")}`;
}

/** Notes the uses of sessions, which move their end. */
export type SessionUses = Pick<KeyUses, "note">;

export type Admit = (operation: Operation, request: Request) => Promise<Admission>;

/**
 * The first step of every call, before the body is read: credential, access, limit.
 *
 * @throws Failure `invalid_argument`, `unauthenticated`, `permission_denied`, `insufficient_scope` or `rate_limited`.
 */
export function createAdmit(identify: Identify, limits: Limits, noteRefusal: NoteRefusal, sessions: SessionUses): Admit {
  /** Runs a step. Writes a refusal to the audit log and rethrows it with the credentials that the operation accepts. */
  async function noteRefusals<T>(operation: Operation, request: Request, caller: Caller | null, step: () => T | Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      noteChallenge(operation, request.credentials, thrown);
      noteRefusal(operation, request, caller, thrown);
      throw thrown;
    }
  }
  async function identifyCaller(operation: Operation, request: Request): Promise<Caller> {
    try {
      return await noteRefusals(operation, request, null, () => identify(request.credentials, request.address));
    } catch (thrown) {
      if (failureOf(thrown).reason === "unauthenticated") await limits.invalidCredential(request.address);
      throw thrown;
    }
  }
  const callers = batchReads<Caller>();
  async function checkAgain(operation: Operation, request: Request): Promise<Caller> {
    const { credentials, address } = request;
    const key = JSON.stringify([credentials, address]);
    const caller = await noteRefusals(operation, request, null, () => callers(key, () => identify(credentials, address)));
    await noteRefusals(operation, request, caller, () => checkAccess(operation, caller));
    return caller;
  }
  /** Ends a call that began before its session switched to another space: its answers are from the space before. */
  async function checkSameSpace(again: Promise<Caller>, { spaceId }: Caller): Promise<Caller> {
    const caller = await again;
    if (caller.spaceId !== spaceId) throw new Failure("unauthenticated", "the session has switched to another space");
    return caller;
  }
  /** The person of a valid session, where the operation reads sessions; otherwise a caller without account. */
  async function identifyVisitor({ readsSessions }: Operation, { address, credentials }: Request): Promise<Caller> {
    const { keys, bearer, session } = credentials;
    if (!readsSessions || session === null || keys.length > 0 || bearer !== null) return anonymousCaller;
    try {
      return await callers(JSON.stringify(session), () => identify({ keys: [], bearer: null, session }, address));
    } catch (thrown) {
      if (failureOf(thrown).reason === "unauthenticated") return anonymousCaller;
      throw thrown;
    }
  }
  /** Admits a call that needs no credential. Its limit is that of the network address, also with a session. */
  async function admitVisitor(operation: Operation, request: Request): Promise<Admission> {
    const rate = await noteRefusals(operation, request, null, () => limits.visitor(request.address, operation));
    const visitor = () => identifyVisitor(operation, request);
    return { operation, request, caller: await visitor(), rate, checkAgain: visitor };
  }
  async function admit(operation: Operation, request: Request): Promise<Admission> {
    if (operation.access === null) return admitVisitor(operation, request);
    const caller = await identifyCaller(operation, request);
    if (request.observed) request.observed.caller = caller;
    const rate = await noteRefusals(operation, request, caller, () => {
      checkAccess(operation, caller);
      return limits.account(caller, operation);
    });
    const { credential } = caller;
    // Not in `checkAgain`: a stream that stays open does not extend its session.
    if (credential.kind === "session" && !request.credentials.signed) sessions.note(credential.id, credential.expiresAt - sessionMs);
    request.body?.assignTo(caller.accountId, (bytes) => limits.bodyBytes(caller.accountId, bytes));
    return { operation, request, caller, rate, checkAgain: () => checkSameSpace(checkAgain(operation, request), caller) };
  }
  return observing(admit);
}

/** Notes the operation of a call, and whether the call was admitted. */
const observing =
  (admit: Admit): Admit =>
  async (operation, request) => {
    const { observed } = request;
    if (observed) observed.operation = operation;
    const admission = await admit(operation, request);
    if (observed) Object.assign(observed, { caller: admission.caller, isAdmitted: true });
    return admission;
  };

/** A caller without account and space: no row belongs to it. */
const anonymousCaller: Caller = {
  accountId: "",
  spaceId: "",
  credential: { kind: "key", keyKind: "general", id: "", scopes: null },
  role: null,
  locale: "en",
};

/**
 * Admits a read without a credential, because its answer is public. Only the limit of
 * the network address applies.
 */
export const admitAnonymous = (limits: Pick<Limits, "anonymous">): Admit =>
  observing(async (operation, request) => {
    if (operation.isChange) throw new Error(`${operation.rpc} is a change: it cannot be anonymous`);
    await limits.anonymous(request.address);
    return { operation, request, caller: anonymousCaller, rate: null, checkAgain: async () => anonymousCaller };
  });
