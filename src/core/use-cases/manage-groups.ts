import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { defined } from "../defined.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import {
  type Group,
  type GroupInput,
  type GroupRole,
  type Groups,
  groupMembersMax,
  groupsMax,
  type MappedRole,
} from "../teams/group.ts";

const nameForm = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** The groups of a team: their members, and the roles that the members get from them. */
export function groups({ clock, ids }: { clock: Pick<Clock, "now">; ids: Ids }): Groups {
  /**
   * Makes a change of a group, then changes the roles of the people concerned and notes both for the audit
   * log.
   */
  async function applyChange(
    tx: Tx,
    before: Group | null,
    after: Group | null,
    { members }: GroupInput,
  ): Promise<void> {
    if (members && members.size > groupMembersMax)
      throw invalidArgument("members", `must be at most ${groupMembersMax} users`);
    const id = after?.id ?? before?.id ?? "";
    const current = new Set(
      before === null ? [] : (await tx.groups.listMembers([id])).map((member) => member.id),
    );
    const added = [...(members ?? [])].filter((member) => !current.has(member));
    const removed =
      after === null ? [...current] : [...(members === undefined ? [] : current.difference(members))];
    await checkKnown(tx, after?.spaceId ?? "", added);
    const concerned =
      before?.role === after?.role ? [...added, ...removed] : [...new Set([...current, ...added])];
    const roles = await changeRoles(tx, after?.spaceId ?? before?.spaceId ?? "", concerned, async () => {
      if (after === null) return tx.groups.remove(before?.spaceId ?? "", id);
      await (before === null ? tx.groups.insert(after) : tx.groups.update(after));
      if (added.length > 0) await tx.groups.addMembers(id, added);
      if (removed.length > 0) await tx.groups.removeMembers(id, removed);
    });
    tx.audit.note({
      subject: id,
      before: toAuditFacts(before),
      after: { ...toAuditFacts(after), added, removed, roles },
    });
  }

  /** Finds a group and locks the team's space: changes of one team run sequentially. */
  async function lockGroup(tx: Tx, caller: Caller, id: string): Promise<Group> {
    await tx.accounts.lockSpace(requireTeam(caller));
    return findGroup(tx, caller, id);
  }

  /** Each change has a later time, which is the version of the group. */
  const laterThan = ({ updatedAt }: Group): number => Math.max(clock.now(), updatedAt + 1);

  return {
    list: (tx, caller, filter) => tx.groups.list(requireTeam(caller), filter),
    find: findGroup,
    members: async (tx, groupIds) => (groupIds.length === 0 ? [] : tx.groups.listMembers(groupIds)),

    async create(tx, caller, { displayName, externalId = null, ...input }) {
      const spaceId = requireTeam(caller);
      await tx.accounts.lockSpace(spaceId);
      const now = clock.now();
      const group = {
        id: ids.short(),
        spaceId,
        displayName,
        externalId,
        role: null,
        createdAt: now,
        updatedAt: now,
      };
      await checkGroup(tx, group);
      const { total } = await tx.groups.list(spaceId, { limit: 1, offset: 0 });
      if (total >= groupsMax)
        throw new Failure("resource_exhausted", `the team has ${groupsMax} groups: delete one first`);
      await applyChange(tx, null, group, input);
      return group;
    },

    async update(tx, caller, id, { displayName, externalId, members }) {
      const group = await lockGroup(tx, caller, id);
      const set = { ...defined({ displayName, externalId }) };
      const after = { ...group, ...set, updatedAt: laterThan(group) };
      await checkGroup(tx, after);
      await applyChange(tx, group, after, { members });
      return after;
    },

    async remove(tx, caller, id) {
      await applyChange(tx, await lockGroup(tx, caller, id), null, {});
    },

    async setRole(tx, caller, id, role) {
      const group = await lockGroup(tx, caller, id);
      const after = { ...group, role, updatedAt: laterThan(group) };
      await applyChange(tx, group, after, {});
      return { ...after, members: (await tx.groups.listMembers([id])).length };
    },
  };
}

/** @throws Failure `permission_denied` in a personal space, which has no groups. */
function requireTeam({ role, spaceId }: Caller): string {
  if (role === null) throw new Failure("permission_denied", "a personal space has no groups");
  return spaceId;
}

async function findGroup(tx: Tx, caller: Caller, id: string): Promise<Group> {
  const group = await tx.groups.find(requireTeam(caller), id);
  if (group === null) throw notFound("group");
  return group;
}

/**
 * @throws Failure `invalid_argument` for the name, `already_exists` when another group has the name or the
 * external id.
 */
async function checkGroup(tx: Tx, { id, spaceId, displayName, externalId }: Group): Promise<void> {
  if (!nameForm.test(displayName))
    throw invalidArgument("displayName", "must have 1 to 255 characters, and no control characters");
  const isTaken = async (filter: { displayName?: string; externalId?: string }): Promise<boolean> =>
    (await tx.groups.list(spaceId, { ...filter, limit: 1, offset: 0 })).groups.some(
      (other) => other.id !== id,
    );
  if (await isTaken({ displayName }))
    throw new Failure("already_exists", "displayName: is already used by a group");
  if (externalId !== null && (await isTaken({ externalId })))
    throw new Failure("already_exists", "externalId: is already used by a group");
}

/** @throws Failure `invalid_argument` for a member who is not in the team. */
async function checkKnown(tx: Tx, spaceId: string, added: readonly string[]): Promise<void> {
  if (added.length === 0) return;
  const known = new Set(await tx.groups.listKnown(spaceId, added));
  if (added.some((id) => !known.has(id)))
    throw invalidArgument("members", "must be the ids of users of this team");
}

/**
 * Makes a change of groups, and gives the people concerned the highest role of their groups. People who have
 * lost their last group with a role become members; people who had none keep their role.
 *
 * @returns the ids of the changed people by the new role.
 */
export async function changeRoles(
  tx: Tx,
  spaceId: string,
  concerned: readonly string[],
  change: () => Promise<void>,
) {
  const rolesOf = async () => (concerned.length === 0 ? [] : tx.groups.listRoles(spaceId, concerned));
  const before = new Map((await rolesOf()).map(({ id, mapped }) => [id, mapped]));
  await change();
  const next = (await rolesOf()).map((person) => ({
    ...person,
    next: nextRole(person, before.get(person.id) ?? null),
  }));
  const changed = Map.groupBy(
    next.filter((person) => person.next !== person.role),
    (person) => person.next,
  );
  const idsByRole = [...changed].map(([role, people]) => [role, people.map(({ id }) => id)] as const);
  for (const [role, people] of idsByRole) await tx.groups.setRole(spaceId, people, role);
  return Object.fromEntries(idsByRole);
}

const nextRole = ({ role, mapped }: GroupRole, mappedBefore: MappedRole | null): MappedRole =>
  mapped ?? (mappedBefore === null ? role : "member");

const toAuditFacts = (group: Group | null) =>
  group === null ? {} : { name: group.displayName, role: group.role };
