import type { Role } from "../accounts/account.ts";
import type { Caller } from "../accounts/caller.ts";
import { defined } from "../defined.ts";
import { Failure, invalidArgument } from "../failure.ts";
import type { MemberChanges, MigratedRole, TeamUser, TeamUserChange } from "./team-user.ts";

/** A Team User Management key has its own rights; other keys and sessions have those of the person. */
const actsAsSuperAdmin = ({ credential, role }: Caller): boolean =>
  role === "super_admin" && !(credential.kind === "key" && credential.keyKind !== "general");

/**
 * A super admin may neither grant nor revoke that role (spec/decisions.md 2). A change to another role
 * revokes it, and so does removal; deactivation does not, because it keeps the role.
 *
 * @param before null for a person who is not in the team yet.
 * @param after null for a person who is removed.
 * @throws Failure `permission_denied`
 */
export function checkRoles(caller: Caller, before: Role | null, after: Role | null): void {
  const changesSuperAdmin = before !== after && (before === "super_admin" || after === "super_admin");
  if (changesSuperAdmin && actsAsSuperAdmin(caller)) {
    throw new Failure("permission_denied", "a super admin cannot grant or revoke the role of a super admin");
  }
}

/**
 * The states of a member (spec/enterprise.md 5), and of a delegated profile:
 *
 *      create           update INACTIVE                 remove, update REMOVED
 *     ────────▶ active ────────────────▶ inactive ────────────────────────────▶ removed
 *                  ▲ ◀──────────────────  │   ▲          (from active too)
 *                  │    update ACTIVE     │   │ reclaim; or the holder leaves ACTIVE
 *                  │             delegate ▼   │
 *                  └──────────────────── delegated (active or inactive)
 *
 * Each step here is pure: the changes of the row, and what ends with it. The owner has no steps.
 */
export interface Step {
  readonly set: MemberChanges;
  /** How the person's access ends; null when it does not. */
  readonly ends: Ending | null;
  /** The profiles that the member holds return to the pool. */
  readonly returnsProfiles: boolean;
}

/** Why a person's credentials end; `use-cases/end-membership.ts` decides which. */
export type Ending = "deactivated" | "delegated" | "removed";

const noChange: Step = { set: {}, ends: null, returnsProfiles: false };

/** @throws Failure `failed_precondition` for the owner, whose profile cannot be changed here. */
export function checkNotOwner({ role }: TeamUser): void {
  if (role === "owner") throw new Failure("failed_precondition", "the owner's profile is immutable");
}

/**
 * Checks the parts of a change that do not depend on the member.
 *
 * @throws Failure `invalid_argument` for an empty change, and for removal together with another change.
 */
export function checkChange({ status, role, externalId, email }: TeamUserChange): void {
  const others = role !== undefined || externalId !== undefined || email !== undefined;
  if (status === undefined && !others) throw invalidArgument("", "status or role is required");
  if (status === "removed" && others)
    throw invalidArgument("status", "REMOVED cannot be combined with another change");
}

/** @throws Failure `failed_precondition` for the owner, and for an e-mail change of a delegated profile. */
export function update(
  user: TeamUser,
  { status, role, externalId, email }: TeamUserChange,
  now: number,
): Step {
  if (status === "removed") return remove(user, now);
  checkNotOwner(user);
  if (email !== undefined && user.delegation !== null)
    throw new Failure(
      "failed_precondition",
      "the address of a delegated profile cannot be changed: reclaim it first",
    );
  const deactivates = status === "inactive" && user.status === "active";
  return {
    set: {
      ...(status === undefined || status === user.status ? {} : { status }),
      ...(role === undefined || role === user.role ? {} : { role }),
      ...defined({ externalId, email }),
    },
    ends: deactivates ? "deactivated" : null,
    returnsProfiles: deactivates,
  };
}

/**
 * Leaves a tombstone with the address and the name by which the person was known
 * (spec/decisions.md 5).
 *
 * @throws Failure `failed_precondition` for the owner.
 */
export function remove(user: TeamUser, now: number): Step {
  checkNotOwner(user);
  const { name, email, delegation } = user;
  return {
    set: {
      status: "removed",
      email: delegation?.originalEmail ?? email,
      name,
      delegation: null,
      removedAt: now,
    },
    ends: "removed",
    returnsProfiles: true,
  };
}

/** Status and role of the delegated profile (spec/enterprise.md 5.5). */
const migratedStates: Readonly<Record<MigratedRole, Pick<MemberChanges, "status" | "role">>> = {
  member: { status: "active", role: "member" },
  free_guest: { status: "active", role: "guest" },
  deactivated: { status: "inactive" },
};

/**
 * Delegates a profile to another member, under a new address.
 *
 * @throws Failure `failed_precondition` for the owner, a profile that is not inactive or is delegated
 * already, and a target that is not active, is delegated itself, or is the profile itself.
 */
export function delegate(
  user: TeamUser,
  target: TeamUser,
  role: MigratedRole,
  address: string,
  now: number,
): Step {
  checkNotOwner(user);
  if (user.id === target.id)
    throw new Failure("failed_precondition", "a profile cannot be delegated to itself");
  if (user.delegation !== null)
    throw new Failure("failed_precondition", "the profile is delegated already: reclaim it first");
  if (user.status !== "inactive")
    throw new Failure(
      "failed_precondition",
      "only an inactive profile can be delegated: deactivate it first",
    );
  if (target.status !== "active" || target.delegation !== null) {
    throw new Failure("failed_precondition", "the target must be an active member who is not delegated");
  }
  const delegation = { to: target.id, at: now, originalEmail: user.email };
  return {
    set: { ...migratedStates[role], email: address, delegation },
    ends: "delegated",
    returnsProfiles: false,
  };
}

/**
 * Returns a profile to the pool.
 *
 * @param free whether the address before the delegation is still unused.
 * @throws Failure `failed_precondition` for a profile that is not delegated.
 */
export function reclaim({ email, delegation }: TeamUser, isAddressFree: boolean): Step {
  if (delegation === null) throw new Failure("failed_precondition", "the profile is not delegated");
  return {
    ...noChange,
    set: { status: "inactive", email: isAddressFree ? delegation.originalEmail : email, delegation: null },
  };
}
