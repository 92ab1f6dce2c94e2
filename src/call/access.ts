import type { Role } from "../core/accounts/account.ts";
import type { Caller, KeyKind } from "../core/caller.ts";
import { Failure } from "../core/failure.ts";
import { Access_Credential, Access_Role } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation, OperationAccess } from "../operations.ts";

/** The credential that each kind of key is, and its name for people. */
const kinds: Record<KeyKind, { readonly credential: Access_Credential; readonly label: string }> = {
  general: { credential: Access_Credential.API_KEY, label: "general API key" },
  ediscovery: { credential: Access_Credential.EDISCOVERY, label: "e-Discovery & legal hold key" },
  siem: { credential: Access_Credential.SIEM, label: "SIEM key" },
  team_user_mgmt: { credential: Access_Credential.TEAM_USER_MGMT, label: "Team User Management key" },
  team_asset_audit: { credential: Access_Credential.TEAM_ASSET_AUDIT, label: "Team Asset Audit key" },
  team_asset_mgmt: { credential: Access_Credential.TEAM_ASSET_MGMT, label: "Team Asset Management key" },
};

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
 * @throws Failure `forbidden` (contract/decisions.md 2, contract/enterprise.md 1).
 */
export function checkAccess(operation: Operation, caller: Caller): void {
  const { access } = operation;
  if (access === null) return;
  const { keyKind } = caller.credential;
  if (!access.credentials.has(kinds[keyKind].credential)) throw forbidden(access);
  const roleNeeded = keyKind === "general" && access.keyRoles.size > 0;
  if (roleNeeded && (caller.role === null || !access.keyRoles.has(roleNames[caller.role]))) throw forbidden(access);
}

function forbidden({ credentials, keyRoles }: OperationAccess): Failure {
  const labels = Object.values(kinds)
    .filter(({ credential }) => credentials.has(credential))
    .map(({ credential, label }) => (credential === Access_Credential.API_KEY ? `${label}${ofRoles(keyRoles)}` : label));
  return new Failure("forbidden", `this operation takes a ${labels.join(" or a ")}`);
}

function ofRoles(roles: ReadonlySet<Access_Role>): string {
  const names = Object.entries(roleNames).filter(([, role]) => roles.has(role));
  return names.length === 0 ? "" : ` of the team's ${names.map(([name]) => name.replace("_", " ")).join(" or ")}`;
}
