import type { Role } from "../accounts/account.ts";
import type { Caller } from "../caller.ts";
import { Failure } from "../failure.ts";

/** A Team User Management key carries its own power; keys and sessions of people have that of the person. */
const actsAsSuperAdmin = ({ credential, role }: Caller): boolean =>
  role === "super_admin" && !(credential.kind === "key" && credential.keyKind !== "general");

/**
 * A super admin may neither grant nor take away that role (contract/decisions.md 2). Another role takes it away, and
 * so does removal; deactivation, which leaves the role where it is, does not.
 *
 * @param before null for somebody who is not in the team yet.
 * @param after null for somebody who is removed.
 * @throws Failure `forbidden`
 */
export function checkRoles(caller: Caller, before: Role | null, after: Role | null): void {
  const moves = before !== after && (before === "super_admin" || after === "super_admin");
  if (moves && actsAsSuperAdmin(caller)) {
    throw new Failure("forbidden", "a super admin neither grants nor takes away the role of a super admin");
  }
}
