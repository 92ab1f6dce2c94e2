import { defined } from "../defined.ts";
import type { CreationContext } from "../keys/api-key.ts";
import type { RequestOrigin } from "../sign-in/start-session.ts";
import type { Tx } from "../store.ts";
import { groupMembersMax, groupsMax, type ListedGroup } from "../teams/group.ts";
import { changeRoles } from "./manage-groups.ts";

/** A member of a team, and the person's groups at the identity provider. */
export interface GroupClaim {
  readonly accountId: string;
  readonly spaceId: string;
  /** The `team_user_id`. */
  readonly memberId: string;
  /** Each is the display name of a group of the team, in any letter case, or its external id. */
  readonly names: ReadonlySet<string>;
}

/** What a claim changes. */
export interface GroupDifference {
  /** The groups of the team that the claim names. */
  readonly named: readonly ListedGroup[];
  readonly joined: readonly ListedGroup[];
  readonly left: readonly ListedGroup[];
}

/** Compares a claim with the groups of the team. A full group gets no more members. */
export async function compareGroups(
  tx: Pick<Tx, "groups">,
  { spaceId, memberId, names }: Omit<GroupClaim, "accountId">,
): Promise<GroupDifference> {
  const page = { limit: groupsMax, offset: 0 };
  const { groups } = await tx.groups.list(spaceId, page);
  const own = new Set((await tx.groups.list(spaceId, { ...page, memberId })).groups.map(({ id }) => id));
  const keys = new Set([...names].map((name) => name.toLowerCase()));
  const isNamed = ({ displayName, externalId }: ListedGroup) =>
    keys.has(displayName.toLowerCase()) || (externalId !== null && names.has(externalId));
  const named = groups.filter(isNamed);
  return {
    named,
    joined: named.filter(({ id, members }) => !own.has(id) && members < groupMembersMax),
    left: groups.filter((group) => own.has(group.id) && !isNamed(group)),
  };
}

/**
 * Makes a member one of exactly the groups that the provider's claim names. The role follows from them
 * (spec/enterprise.md 5.9); the owner and super admins keep theirs. A change is one audit row of the team.
 * Unknown groups are ignored.
 */
export async function followGroups(
  tx: Tx,
  context: CreationContext,
  claim: GroupClaim,
  from: RequestOrigin,
): Promise<void> {
  const { spaceId, memberId, accountId } = claim;
  await tx.accounts.lockSpace(spaceId);
  if ((await tx.groups.listKnown(spaceId, [memberId])).length === 0) return;
  const { joined, left } = await compareGroups(tx, claim);
  if (joined.length + left.length === 0) return;
  const roles = await changeRoles(tx, spaceId, [memberId], async () => {
    for (const group of [...joined, ...left])
      await tx.groups.update({ ...group, updatedAt: Math.max(context.now, group.updatedAt + 1) });
    for (const { id } of joined) await tx.groups.addMembers(id, [memberId]);
    for (const { id } of left) await tx.groups.removeMembers(id, [memberId]);
  });
  const idsOf = (groups: readonly ListedGroup[]) => groups.map(({ id }) => id);
  const entry = {
    id: context.ids.short(),
    at: context.now,
    spaceId,
    accountId,
    credential: "provider",
    ...from,
  };
  const [role] = Object.keys(roles);
  const after = { added: idsOf(joined), removed: idsOf(left), ...defined({ role }) };
  await tx.audit.insert({
    ...entry,
    operation: "console/FollowGroups",
    subject: memberId,
    before: null,
    after,
  });
}
