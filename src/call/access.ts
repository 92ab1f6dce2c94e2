import type { Role } from "../core/accounts/account.ts";
import type { Caller, CallerCredential, KeyKind, TokenCredential } from "../core/caller.ts";
import { Failure } from "../core/failure.ts";
import { Access_Credential, Access_Role } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation, OperationAccess } from "../operations.ts";

const keyCredentials: Record<KeyKind, Access_Credential> = {
  general: Access_Credential.API_KEY,
  ediscovery: Access_Credential.EDISCOVERY,
  siem: Access_Credential.SIEM,
  team_user_mgmt: Access_Credential.TEAM_USER_MGMT,
  team_asset_audit: Access_Credential.TEAM_ASSET_AUDIT,
  team_asset_mgmt: Access_Credential.TEAM_ASSET_MGMT,
};

/** Names for people, with their article, in the order in which a refusal tells them. */
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

/** A role is asked of these: the others carry their own power. */
const ofPeople: ReadonlySet<Access_Credential> = new Set([Access_Credential.API_KEY, Access_Credential.SESSION]);

const roleNames: Record<Role, Access_Role> = {
  owner: Access_Role.OWNER,
  super_admin: Access_Role.SUPER_ADMIN,
  admin: Access_Role.ADMIN,
  member: Access_Role.MEMBER,
  guest: Access_Role.GUEST,
};

/**
 * Lets a caller into an operation, or says which credential it takes.
 *
 * @throws Failure `forbidden`; `insufficient_scope` for a token
 * (contract/decisions.md 2, contract/enterprise.md 1, contract/oauth.md 2.1, 9.2).
 */
export function checkAccess(operation: Operation, { credential, role }: Caller): void {
  const { access } = operation;
  if (access === null) return;
  if (credential.kind === "token") checkScopes(access, credential);
  else checkKind(access, credentialOf(credential), role);
}

function checkKind(access: OperationAccess, shown: Access_Credential, role: Role | null): void {
  if (!access.credentials.has(shown)) throw forbidden(access);
  const roleNeeded = ofPeople.has(shown) && access.roles.size > 0;
  const hasRole = role === null ? access.personal : access.roles.has(roleNames[role]);
  if (roleNeeded && !hasRole) throw forbidden(access);
}

function checkScopes({ credentials, anyScope }: OperationAccess, { scopes }: TokenCredential): void {
  if (!credentials.has(Access_Credential.OAUTH))
    throw new Failure("insufficient_scope", "insufficient_scope: this operation accepts an API key only");
  if (anyScope.length === 0 || anyScope.some((scope) => scopes.includes(scope))) return;
  throw new Failure("insufficient_scope", `insufficient_scope: required one of [${anyScope.join(", ")}]`);
}

function credentialOf(credential: Exclude<CallerCredential, TokenCredential>): Access_Credential {
  if (credential.kind === "key") return keyCredentials[credential.keyKind];
  return credential.kind === "worker" ? Access_Credential.WORKER : Access_Credential.SESSION;
}

function forbidden({ credentials, roles }: OperationAccess): Failure {
  const taken = labels.filter(([credential]) => credentials.has(credential));
  const named = taken.map(([credential, label]) => (ofPeople.has(credential) ? `${label}${ofRoles(roles)}` : label));
  return new Failure("forbidden", `this operation takes ${named.join(" or ")}`);
}

function ofRoles(roles: ReadonlySet<Access_Role>): string {
  const names = Object.entries(roleNames).filter(([, role]) => roles.has(role));
  return names.length === 0 ? "" : ` of the team's ${names.map(([name]) => name.replace("_", " ")).join(" or ")}`;
}
