import type { Role } from "../core/accounts/account.ts";
import {
  type Caller,
  type KeyCredential,
  type KeyKind,
  keyScopeDenial,
  type SessionCredential,
  type TokenCredential,
  type WorkerCredential,
} from "../core/accounts/caller.ts";
import type { KeyScope } from "../core/accounts/key-scopes.ts";
import { Failure } from "../core/failure.ts";
import { Access_Credential, Access_Role } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation, OperationAccess } from "./operations.ts";

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
const roleCredentials: ReadonlySet<Access_Credential> = new Set([
  Access_Credential.API_KEY,
  Access_Credential.SESSION,
]);

const roleNames: Record<Role, Access_Role> = {
  owner: Access_Role.OWNER,
  super_admin: Access_Role.SUPER_ADMIN,
  admin: Access_Role.ADMIN,
  member: Access_Role.MEMBER,
  guest: Access_Role.GUEST,
};

/** What a credential may do. */
export type CredentialRights =
  | Pick<KeyCredential, "kind" | "keyKind" | "scopes">
  | Pick<TokenCredential, "kind" | "scopes" | "service">
  | Pick<SessionCredential, "kind" | "operator">
  | Pick<WorkerCredential, "kind">;

/**
 * What decides which operations a caller may call: its credential, the role of its account, and the projects
 * of its key.
 */
export interface Rights extends Pick<Caller, "role" | "within"> {
  readonly credential: CredentialRights;
}

/**
 * Whether a caller may call an operation: the only rule, for admission and for every list of what a caller
 * may do (spec/decisions.md 2, spec/enterprise.md 1, spec/oauth.md 2.1, 9.2).
 */
export const mayCall = (operation: Operation, caller: Rights): boolean =>
  denialOf(operation, caller) === null;

/**
 * @throws Failure `permission_denied` that names the accepted credentials; `insufficient_scope` for a token
 */
export function checkAccess(operation: Operation, caller: Rights): void {
  const denial = denialOf(operation, caller);
  if (denial !== null) throw denial();
}

/** Makes the failure of a caller without access. Its stack is not made for a question whose answer is no. */
type Denial = () => Failure;

function denialOf({ access }: Operation, { credential, role, within }: Rights): Denial | null {
  if (access === null) return null;
  if (credential.kind === "token") return scopeDenial(access, credential);
  const kind = credentialOf(credential);
  const isOperator = credential.kind === "session" && credential.operator;
  if (!access.credentials.has(kind) || !hasRole(access, kind, role) || (access.operator && !isOperator))
    return () => forbidden(access);
  return credential.kind === "key" ? restrictionDenial(access, credential, within) : null;
}

const hasRole = (
  { roles, personal }: OperationAccess,
  credential: Access_Credential,
  role: Role | null,
): boolean =>
  !roleCredentials.has(credential) ||
  roles.size === 0 ||
  (role === null ? personal : roles.has(roleNames[role]));

/** The decisions that are a person's: an app that acts as itself makes none (spec/api.md 8.114). */
const decidingScope: KeyScope = "task:approve";

function scopeDenial(
  { credentials, anyScope, keyScope }: OperationAccess,
  { scopes, service }: Pick<TokenCredential, "scopes" | "service">,
): Denial | null {
  if (!credentials.has(Access_Credential.OAUTH)) return lacksScope("this operation accepts an API key only");
  if (service && keyScope === decidingScope)
    return lacksScope("a person must decide: this app acts as itself");
  if (anyScope.length === 0 || anyScope.some((scope) => scopes.includes(scope))) return null;
  return lacksScope(`required one of [${anyScope.join(", ")}]`);
}

const lacksScope =
  (why: string): Denial =>
  () =>
    new Failure("insufficient_scope", `insufficient_scope: ${why}`);

/** A key with restrictions may do what they name, and nothing else (spec/api.md 8.108). */
function restrictionDenial(
  { keyScope, inProjects }: OperationAccess,
  credential: Pick<KeyCredential, "kind" | "scopes">,
  within: Rights["within"],
): Denial | null {
  // Enterprise keys have no scopes and no projects.
  const denial = keyScope === null ? null : keyScopeDenial(credential, keyScope);
  if (denial !== null || within === undefined || inProjects) return denial;
  return () =>
    new Failure(
      "permission_denied",
      "this API key is limited to projects, and this operation reaches more than projects",
    );
}

function credentialOf(credential: Exclude<CredentialRights, { kind: "token" }>): Access_Credential {
  if (credential.kind === "key") return keyCredentials[credential.keyKind];
  return credential.kind === "worker" ? Access_Credential.WORKER : Access_Credential.SESSION;
}

function forbidden({ credentials, roles, operator }: OperationAccess): Failure {
  if (operator)
    return new Failure(
      "permission_denied",
      "this operation takes a signed-in session of an operator of the installation",
    );
  const accepted = labels.filter(([credential]) => credentials.has(credential));
  const names = accepted.map(([credential, label]) =>
    roleCredentials.has(credential) ? `${label}${roleSuffix(roles)}` : label,
  );
  return new Failure("permission_denied", `this operation takes ${names.join(" or ")}`);
}

function roleSuffix(roles: ReadonlySet<Access_Role>): string {
  const names = Object.entries(roleNames).filter(([, role]) => roles.has(role));
  return names.length === 0
    ? ""
    : ` of the team's ${names.map(([name]) => name.replace("_", " ")).join(" or ")}`;
}
