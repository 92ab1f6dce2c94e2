import type { Role } from "../accounts/account.ts";
import type { Caller } from "../caller.ts";
import { Failure } from "../failure.ts";
import type { TeamUser } from "./team-user.ts";

/** A Team User Management key carries its own power; keys and sessions of people have that of the person. */
const actsAsSuperAdmin = ({ credential, role }: Caller): boolean =>
  role === "super_admin" && !(credential.kind === "key" && credential.keyKind !== "general");

const refusal = () => new Failure("forbidden", "a super admin neither grants nor takes away the role of a super admin");

/**
 * A super admin may not grant the role (contract/decisions.md 2).
 *
 * @throws Failure `forbidden`
 */
export function checkGrants(caller: Caller, role: Role | undefined): void {
  if (role === "super_admin" && actsAsSuperAdmin(caller)) throw refusal();
}

/**
 * Nor take it away: by another role, nor by whatever ends or revives what a super admin may do, which is
 * deactivation, reactivation, delegation and removal.
 *
 * @throws Failure `forbidden`
 */
export function checkReaches(caller: Caller, user: TeamUser): void {
  if (user.role === "super_admin" && actsAsSuperAdmin(caller)) throw refusal();
}
