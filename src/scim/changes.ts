import type { Role } from "../core/accounts/account.ts";
import type { GrantableRole, TeamUser, TeamUserChange } from "../core/teams/team-user.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import type { Wanted } from "./wanted.ts";

/**
 * What has to change of a member for it to be as wanted; null when nothing has, or only its name.
 *
 * @throws ScimFailure `invalidValue` for the owner's role; `mutability` for the address of a delegated profile.
 */
export function changesOf(user: TeamUser, wanted: Wanted): TeamUserChange | null {
  const active = user.status === "active";
  const changes: TeamUserChange = {
    ...(wanted.active === undefined || wanted.active === active ? {} : { status: wanted.active ? "active" : "inactive" }),
    ...(wanted.externalId === undefined || wanted.externalId === user.externalId ? {} : { externalId: wanted.externalId }),
    ...roleChange(user, wanted.role),
    ...addressChange(user, wanted.userName),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}

/** Whose role is taken away keeps what is not above a member's. */
function roleChange({ role }: TeamUser, wanted: Wanted["role"]): Pick<TeamUserChange, "role"> {
  const next = wanted === null ? (role === "guest" ? "guest" : "member") : wanted;
  return next === undefined || next === role ? {} : { role: granted(next) };
}

/** @throws ScimFailure `invalidValue` for the owner's role, which is nobody's to give here. */
export function granted(role: Role): GrantableRole {
  if (role === "owner") throw invalidValue("roles", "the owner's role is not given here");
  return role;
}

/**
 * A delegated profile's address is not its provider's to set: the one from before the delegation, which the
 * provider may go on sending, says nothing new.
 */
function addressChange({ email, delegation }: TeamUser, wanted: string | undefined): Pick<TeamUserChange, "email"> {
  if (wanted === undefined || sameAddress(wanted, email)) return {};
  if (delegation === null) return { email: wanted };
  if (sameAddress(wanted, delegation.originalEmail)) return {};
  throw new ScimFailure("mutability", "userName: the profile is delegated, its address is the service's own");
}

const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
