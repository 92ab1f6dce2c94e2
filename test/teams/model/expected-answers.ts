import { heldBy, type Member, type Team } from "./members.ts";

/** JSON as in v2. */
export type Shown = Readonly<Record<string, unknown>>;

const time = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");

/** The fallback of a name (spec/enterprise.md 4.3). */
const displayName = ({ name, email, delegation }: Member): string =>
  name ?? delegation?.originalEmail ?? email;

/** A TeamUser in a list: without inapplicable members (spec/enterprise.md 4.3, 13 rows 23 and 24). */
export const listed = ({ id, email, name, role, status, delegation }: Member): Shown => ({
  team_user_id: id,
  email,
  ...(name === undefined ? {} : { user_name: name }),
  status: `USER_STATUS_${status}`,
  role: `TEAM_MEMBER_ROLE_${role}`,
  ...(delegation ? { delegated_to: delegation.to, original_email: delegation.originalEmail } : {}),
});

/** A TeamUser in a single answer. */
export function detailedUser(team: Team, member: Member): Shown {
  const held = heldBy(team, member).map((profile) => ({
    team_user_id: profile.id,
    display_name: displayName(profile),
    role: `TEAM_MEMBER_ROLE_${profile.role}`,
    delegated_at: time(profile.delegation?.at ?? 0),
  }));
  return { ...listed(member), ...(held.length > 0 ? { delegated_profiles: held } : {}) };
}

/** A row of `cascade_affected`, for a profile that is still held. */
export const affected = (profile: Member): Shown => ({
  team_user_id: profile.id,
  display_name: displayName(profile),
  action: "returned_to_pool",
  new_status: "USER_STATUS_INACTIVE",
});
