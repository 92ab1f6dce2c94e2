import type { Role } from "../../src/core/accounts/account.ts";
import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import { Access_Credential, Access_Role } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation, OperationAccess } from "../../src/pipeline/operations.ts";
import type { Wire } from "./call.ts";

/** The credential in the descriptors for a kind of key. */
export const credentialOf: Record<KeyKind, Access_Credential> = {
  general: Access_Credential.API_KEY,
  ediscovery: Access_Credential.EDISCOVERY,
  siem: Access_Credential.SIEM,
  team_user_mgmt: Access_Credential.TEAM_USER_MGMT,
  team_asset_audit: Access_Credential.TEAM_ASSET_AUDIT,
  team_asset_mgmt: Access_Credential.TEAM_ASSET_MGMT,
};
const roleOf: Record<Role, Access_Role> = {
  owner: Access_Role.OWNER,
  super_admin: Access_Role.SUPER_ADMIN,
  admin: Access_Role.ADMIN,
  member: Access_Role.MEMBER,
  guest: Access_Role.GUEST,
};

/** Whether the table allows a kind of key, held by this role; null is a personal space. */
export function takes({ access }: Operation, kind: KeyKind, role: Role | null): boolean {
  if (!access?.credentials.has(credentialOf[kind])) return false;
  return kind !== "general" || access.roles.size === 0 || hasRole(access, role);
}

/** Whether the table allows any key of the owner. */
export const takesKey = (operation: Operation): boolean =>
  keyKinds.some((kind) => takes(operation, kind, "owner"));

/**
 * Whether the table allows a session of this role, of an account without the flag of operators; null is a
 * personal space.
 */
export const takesSession = ({ access }: Operation, role: Role | null): boolean =>
  access?.credentials.has(Access_Credential.SESSION) === true &&
  !access.operator &&
  (access.roles.size === 0 || hasRole(access, role));

const hasRole = ({ roles, personal }: OperationAccess, role: Role | null): boolean =>
  role === null ? personal : roles.has(roleOf[role]);

/** Whether the table allows a worker's credential. */
export const takesWorker = ({ access }: Operation): boolean =>
  access?.credentials.has(Access_Credential.WORKER) === true;

/**
 * A session is valid on the Connect wire only, for unary calls and server streams (spec/decisions.md 35, 55).
 */
export const hasSessions = (wire: Wire, { method }: Operation): boolean =>
  wire.startsWith("connect") && method.methodKind !== "bidi_streaming";

/** Whether any credential gives the owner access to this operation over a wire. */
export const canOpen = (operation: Operation, wire: Wire): boolean =>
  takesKey(operation) ||
  takesWorker(operation) ||
  (hasSessions(wire, operation) && takesSession(operation, "owner"));
