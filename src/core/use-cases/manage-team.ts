import type { Role } from "../accounts/account.ts";
import type { Caller } from "../accounts/caller.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import {
  checkChange,
  checkNotOwner,
  checkRoles,
  delegate,
  reclaim,
  remove,
  type Step,
  update,
} from "../teams/lifecycle.ts";
import {
  type CascadeResult,
  delegateAddress,
  readAddress,
  type TeamUser,
  type TeamUserDetail,
  type TeamUserRef,
  type TeamUsers,
} from "../teams/team-user.ts";
import { countEnding, type EndingParts, endMembership } from "./end-membership.ts";
import { admitMember, type Joining, type Newcomer, openInvitation } from "./join-team.ts";

export interface TeamUserParts extends EndingParts {
  readonly ids: Ids;
  readonly random: Random;
  /** The domain of a delegated profile's address. */
  readonly delegateDomain: string;
  /**
   * Called after the commit for a person who gets a mail with a one-time link; null when no mail is
   * configured.
   */
  readonly invite: ((newcomer: Newcomer) => void) | null;
}

const nameForm = /^\P{Cc}{1,260}$/u;

export function teamUsers(parts: TeamUserParts): TeamUsers {
  const { clock, delegateDomain } = parts;

  /** Applies a step: the row first, then its consequences. */
  async function applyStep(tx: Tx, caller: Caller, user: TeamUser, step: Step): Promise<CascadeResult> {
    checkRoles(caller, user.role, step.ends === "removed" ? null : (step.set.role ?? user.role));
    const { spaceId } = caller;
    await tx.accounts.lock(user.accountId);
    await tx.members.update(spaceId, user.id, step.set);
    const ended =
      step.ends === null
        ? null
        : await endMembership(tx, parts, { accountId: user.accountId, spaceId }, step.ends);
    if (step.ends === "removed") await tx.groups.leaveAll(user.id);
    const cascade = step.returnsProfiles ? await returnProfiles(tx, spaceId, user.id) : [];
    const erased = step.ends === "removed" && (await tx.members.deleteAccount(user.accountId));
    const after = afterStep(user, step);
    tx.audit.note({
      subject: user.id,
      before: toAuditFacts(user),
      after: {
        ...toAuditFacts(after),
        ...ended,
        ...(erased ? { erased } : {}),
        ...(cascade.length === 0 ? {} : { returned: cascade.map(({ id }) => id) }),
      },
    });
    return {
      user: after,
      holds: step.returnsProfiles ? [] : await tx.members.listHeldProfiles(user.id),
      cascade,
    };
  }

  async function showStep(tx: Tx, caller: Caller, user: TeamUser, step: Step): Promise<CascadeResult> {
    checkRoles(caller, user.role, step.ends === "removed" ? null : (step.set.role ?? user.role));
    const held = await tx.members.listHeldProfiles(user.id);
    const person = { accountId: user.accountId, spaceId: caller.spaceId };
    const effects = step.ends === null ? undefined : await countEnding(tx, clock.now(), person, step.ends);
    return {
      user: afterStep(user, step),
      effects,
      ...(step.returnsProfiles ? { holds: [], cascade: held } : { holds: held, cascade: [] }),
    };
  }

  const begin = (dryRun: boolean) =>
    dryRun ? { lock: findUser, apply: showStep } : { lock: lockUser, apply: applyStep };

  return {
    list: async (tx, caller, filter) => tx.members.list(requireTeam(caller), filter),

    find: async (tx, caller, ref) => withProfiles(tx, await findUser(tx, caller, ref)),

    async create(tx, caller, { email: address, role, name = null, externalId = null }) {
      const email = readAddress(address, delegateDomain);
      if (name !== null) checkName("user_name", name);
      checkRoles(caller, null, role);
      await tx.accounts.lockSpace(requireTeam(caller));
      const user = await admitMember(tx, { ...parts, now: clock.now() }, caller.spaceId, {
        email,
        role,
        name,
        externalId,
      });
      tx.audit.note({ subject: user.id, after: toAuditFacts(user) });
      return user;
    },

    async update(tx, caller, ref, input, dryRun = false) {
      const { lock, apply } = begin(dryRun);
      checkChange(input);
      const change =
        input.email === undefined ? input : { ...input, email: readAddress(input.email, delegateDomain) };
      const user = await lock(tx, caller, ref);
      const step = update(user, change, clock.now());
      await checkMappedRole(tx, user, step.set.role);
      await checkExternalId(tx, caller, user, change.externalId);
      if (change.email !== undefined && !(await isAddressFree(tx, caller, user, change.email)))
        throw new Failure("already_exists", "email: is already used by a member");
      return apply(tx, caller, user, step);
    },

    async delegate(tx, caller, id, { id: toId, role }, dryRun = false) {
      const { lock, apply } = begin(dryRun);
      const user = await lock(tx, caller, { id });
      const target = await findUser(tx, caller, { id: toId }, "target_team_user_id");
      const address = delegateAddress(user.id, delegateDomain);
      const step = delegate(user, target, role, address, clock.now());
      if (!(await isAddressFree(tx, caller, user, address)))
        throw new Failure("failed_precondition", "the delegate address is already used by a member");
      return apply(tx, caller, user, step);
    },

    async reclaim(tx, caller, id) {
      const user = await lockUser(tx, caller, { id });
      const { delegation } = user;
      const free = delegation !== null && (await isAddressFree(tx, caller, user, delegation.originalEmail));
      const step = await withMappedRole(tx, user, reclaim(user, free));
      return { ...(await applyStep(tx, caller, user, step)), previousDelegate: delegation?.to ?? "" };
    },

    async rename(tx, caller, id, name) {
      checkName("display_name", name);
      const user = await lockUser(tx, caller, { id });
      checkNotOwner(user);
      return applyStep(tx, caller, user, { set: { name }, ends: null, returnsProfiles: false });
    },

    async remove(tx, caller, id, dryRun = false) {
      const { lock, apply } = begin(dryRun);
      const user = await lock(tx, caller, { id });
      return apply(tx, caller, user, remove(user, clock.now()));
    },

    directory: async (tx, caller, filter) =>
      tx.members.directory(requireTeam(caller), { ...filter, byEmail: canSeeAddresses(caller) }),

    async invite(tx, caller, id) {
      const user = await lockUser(tx, caller, { id });
      if (user.status !== "active" || user.delegation !== null)
        throw new Failure("failed_precondition", "only an active member who is not delegated can be invited");
      await renewInvitation(
        tx,
        { ...parts, now: clock.now() },
        { accountId: user.accountId, spaceId: caller.spaceId },
      );
      const mailed = parts.invite !== null;
      tx.audit.note({ subject: id, after: { mailed } });
      return mailed;
    },
  };
}

/** Only the owner and super admins see addresses in the directory (spec/enterprise.md 5.10). */
export const canSeeAddresses = ({ role }: Caller): boolean => role === "owner" || role === "super_admin";

/**
 * Ends the open links of a person in a space, and opens a new invitation to the address of the account, not
 * of the membership.
 */
async function renewInvitation(
  tx: Tx,
  context: Joining,
  person: { accountId: string; spaceId: string },
): Promise<void> {
  const profile = await tx.accounts.profile(person.accountId, person.spaceId);
  if (profile === null) throw notFound("team user");
  await tx.links.useUp(person.accountId, person.spaceId, context.now);
  await openInvitation(tx, context, { email: profile.email, team: profile.teamName ?? "" }, person);
}

/** @throws Failure `permission_denied` in a personal space, which cannot have members. */
function requireTeam({ role, spaceId }: Caller): string {
  if (role === null) throw new Failure("permission_denied", "a personal space has no members");
  return spaceId;
}

/**
 * @throws Failure `invalid_argument` when neither is given, `not_found` for a person who is not in the team.
 */
async function findUser(tx: Tx, caller: Caller, ref: TeamUserRef, path?: string): Promise<TeamUser> {
  const spaceId = requireTeam(caller);
  if (ref.id === undefined && ref.email === undefined)
    throw invalidArgument("", "email or team_user_id must be given");
  const user = await tx.members.find(spaceId, ref);
  if (user === null) throw notFound("team user", path);
  return user;
}

/** Finds a member and locks the team's space: changes of one team run sequentially. */
async function lockUser(tx: Tx, caller: Caller, ref: TeamUserRef): Promise<TeamUser> {
  await tx.accounts.lockSpace(requireTeam(caller));
  return findUser(tx, caller, ref);
}

const withProfiles = async (tx: Tx, user: TeamUser): Promise<TeamUserDetail> => ({
  user,
  holds: await tx.members.listHeldProfiles(user.id),
});

async function isAddressFree(tx: Tx, { spaceId }: Caller, { id }: TeamUser, email: string): Promise<boolean> {
  const holder = await tx.members.find(spaceId, { email });
  return holder === null || holder.id === id;
}

/** @throws Failure `already_exists` when another current member has it. */
async function checkExternalId(
  tx: Tx,
  { spaceId }: Caller,
  { id }: TeamUser,
  externalId: string | null | undefined,
): Promise<void> {
  if (externalId === undefined || externalId === null) return;
  const { users } = await tx.members.list(spaceId, { externalId, limit: 1, offset: 0 });
  if (users.some((user) => user.id !== id))
    throw new Failure("already_exists", "external_id: is already used by another member");
}

/**
 * Groups decide the role of their members. By hand, only the role of a super admin can be granted, and taken
 * away again.
 *
 * @throws Failure `failed_precondition` for another role than that of the person's groups.
 */
async function checkMappedRole(tx: Tx, { id }: TeamUser, role: Role | undefined): Promise<void> {
  if (role === undefined || role === "super_admin") return;
  const mapped = await tx.groups.roleOf(id);
  if (mapped !== null && mapped !== role)
    throw new Failure(
      "failed_precondition",
      `role: a group gives the role ${mapped}: change the groups of the person, or the role of the group`,
    );
}

/** Gives a profile that is no longer delegated the role of its groups. */
async function withMappedRole(tx: Tx, { id, role }: TeamUser, step: Step): Promise<Step> {
  const mapped = role === "super_admin" ? null : await tx.groups.roleOf(id);
  return mapped === null || mapped === role ? step : { ...step, set: { ...step.set, role: mapped } };
}

/** @throws Failure `invalid_argument` */
function checkName(path: string, name: string): void {
  if (!nameForm.test(name))
    throw invalidArgument(path, "must have 1 to 255 characters, and no control characters");
}

/** Makes the profiles that a leaving member held inactive, and ends their delegation. */
export async function returnProfiles(
  tx: Tx,
  spaceId: string,
  holderId: string,
): Promise<CascadeResult["cascade"]> {
  const held = await tx.members.listHeldProfiles(holderId);
  for (const { id } of held) {
    const user = await tx.members.find(spaceId, { id });
    if (user === null) continue;
    const { email = user.email } = { email: user.delegation?.originalEmail };
    const other = await tx.members.find(spaceId, { email });
    const step = await withMappedRole(tx, user, reclaim(user, other === null || other.id === id));
    await tx.members.update(spaceId, id, step.set);
  }
  return held.map(({ id, displayName }) => ({ id, displayName }));
}

const afterStep = (user: TeamUser, { set }: Step): TeamUser => {
  const { removedAt: _, ...members } = set;
  return { ...user, ...members };
};

const toAuditFacts = ({ email, name, status, role, delegation, externalId }: TeamUser) => ({
  email,
  name,
  status,
  role,
  delegatedTo: delegation?.to ?? null,
  ...(externalId === null ? {} : { externalId }),
});
