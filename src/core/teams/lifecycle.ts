import { Failure, invalid } from "../failure.ts";
import type { MemberChanges } from "./member.ts";
import type { MigratedRole, TeamUser, TeamUserChange } from "./team-user.ts";

/**
 * The life of a member (contract/enterprise.md 5), and, beside it, of a profile that is handed over:
 *
 *      create           update INACTIVE                 remove, update REMOVED
 *     ────────▶ active ────────────────▶ inactive ────────────────────────────▶ removed
 *                  ▲ ◀──────────────────  │   ▲          (from active too)
 *                  │    update ACTIVE     │   │ reclaim; or the holder leaves ACTIVE
 *                  │             delegate ▼   │
 *                  └──────────────────── delegated (active or inactive)
 *
 * Each step here is pure: what changes of the row, and what ends with it. The owner takes none.
 */
export interface Step {
  readonly set: MemberChanges;
  /** What the person loses; null for nothing. */
  readonly ends: Ending | null;
  /** What the member holds falls back to the pool. */
  readonly returns: boolean;
}

/** Why a person's credentials end; `endings.ts` says which of them. */
export type Ending = "deactivated" | "delegated" | "removed";

const nothing: Step = { set: {}, ends: null, returns: false };

/** @throws Failure `precondition` for the owner, whom nobody changes here. */
export function checkNotOwner({ role }: TeamUser): void {
  if (role === "owner") throw new Failure("precondition", "the owner's profile is immutable");
}

/**
 * What a change has to be, whoever it is for.
 *
 * @throws Failure `invalid` without a change, and for removal together with another.
 */
export function checkChange({ status, role, externalId }: TeamUserChange): void {
  const others = role !== undefined || externalId !== undefined;
  if (status === undefined && !others) throw invalid("", "status or role must be given");
  if (status === "removed" && others) throw invalid("status", "REMOVED goes with no other change");
}

/** @throws Failure `precondition` for the owner. */
export function update(user: TeamUser, { status, role, externalId }: TeamUserChange, now: number): Step {
  if (status === "removed") return remove(user, now);
  checkNotOwner(user);
  const leaves = status === "inactive" && user.status === "active";
  return {
    set: {
      ...(status === undefined || status === user.status ? {} : { status }),
      ...(role === undefined || role === user.role ? {} : { role }),
      ...(externalId === undefined ? {} : { externalId }),
    },
    ends: leaves ? "deactivated" : null,
    returns: leaves,
  };
}

/**
 * Leaves a tombstone under the address and the name by which the person was known
 * (contract/decisions.md 5).
 *
 * @throws Failure `precondition` for the owner.
 */
export function remove(user: TeamUser, now: number): Step {
  checkNotOwner(user);
  const { name, email, delegation } = user;
  return {
    set: { status: "removed", email: delegation?.originalEmail ?? email, name, delegation: null, removedAt: now },
    ends: "removed",
    returns: true,
  };
}

/** Status and role of the source afterwards (contract/enterprise.md 5.5). */
const migrated: Readonly<Record<MigratedRole, Pick<MemberChanges, "status" | "role">>> = {
  member: { status: "active", role: "member" },
  free_guest: { status: "active", role: "guest" },
  deactivated: { status: "inactive" },
};

/**
 * Hands a profile to another member, under another address.
 *
 * @throws Failure `precondition` for the owner, a source that is not inactive or is held already, and
 * a target that is not active, is held itself, or is the source.
 */
export function delegate(user: TeamUser, target: TeamUser, role: MigratedRole, address: string, now: number): Step {
  checkNotOwner(user);
  if (user.id === target.id) throw new Failure("precondition", "a profile cannot be delegated to itself");
  if (user.delegation !== null) throw new Failure("precondition", "the profile is delegated already: reclaim it first");
  if (user.status !== "inactive") throw new Failure("precondition", "only an inactive profile can be delegated: deactivate it first");
  if (target.status !== "active" || target.delegation !== null) {
    throw new Failure("precondition", "the target must be an active member who is not delegated");
  }
  const delegation = { to: target.id, at: now, originalEmail: user.email };
  return { set: { ...migrated[role], email: address, delegation }, ends: "delegated", returns: false };
}

/**
 * Takes a profile back to the pool.
 *
 * @param free whether the address before the delegation is nobody else's by now.
 * @throws Failure `precondition` for a profile that nobody holds.
 */
export function reclaim({ email, delegation }: TeamUser, free: boolean): Step {
  if (delegation === null) throw new Failure("precondition", "the profile is not delegated");
  return { ...nothing, set: { status: "inactive", email: free ? delegation.originalEmail : email, delegation: null } };
}
