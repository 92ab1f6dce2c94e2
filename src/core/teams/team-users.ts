import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { delegateAddress, readAddress } from "./address.ts";
import { endFor } from "./endings.ts";
import { admit, type Newcomer } from "./join.ts";
import { checkChange, checkNotOwner, delegate, reclaim, remove, type Step, update } from "./lifecycle.ts";
import { checkRoles } from "./powers.ts";
import type { Cascaded, TeamUser, TeamUserInFull, TeamUserRef, TeamUsers } from "./team-user.ts";

/** What the operations need of their surroundings. */
export interface TeamUserParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly random: Random;
  /** What follows the @ of a delegated profile's address. */
  readonly delegateDomain: string;
  /** Told after the commit of somebody who is to get a mail with a one-time link; null where no mail is sent. */
  readonly invite: ((newcomer: Newcomer) => void) | null;
}

const nameForm = /^\P{Cc}{1,260}$/u;

export function teamUsers(parts: TeamUserParts): TeamUsers {
  const { clock, delegateDomain } = parts;

  /** What a step comes to: the row first, then what hangs on it. */
  async function take(tx: Tx, caller: Caller, user: TeamUser, step: Step): Promise<Cascaded> {
    checkRoles(caller, user.role, step.ends === "removed" ? null : (step.set.role ?? user.role));
    const { spaceId } = caller;
    await tx.accounts.lock(user.accountId);
    await tx.members.update(spaceId, user.id, step.set);
    const ended = step.ends === null ? null : await endFor(tx, clock, { accountId: user.accountId, spaceId }, step.ends);
    const cascade = step.returns ? await returnHeld(tx, spaceId, user.id) : [];
    const erased = step.ends === "removed" && (await tx.members.eraseAccount(user.accountId));
    const after = changed(user, step);
    tx.audit.note({
      subject: user.id,
      before: told(user),
      after: {
        ...told(after),
        ...ended,
        ...(erased ? { erased } : {}),
        ...(cascade.length === 0 ? {} : { returned: cascade.map(({ id }) => id) }),
      },
    });
    return { user: after, holds: step.returns ? [] : await tx.members.holds(user.id), cascade };
  }

  return {
    list: async (tx, caller, filter) => tx.members.list(teamOf(caller), filter),

    find: async (tx, caller, ref) => inFull(tx, await found(tx, caller, ref)),

    async create(tx, caller, { email: given, role, name = null, externalId = null }) {
      const email = readAddress(given, delegateDomain);
      if (name !== null) checkName("user_name", name);
      checkRoles(caller, null, role);
      await tx.accounts.lockSpace(teamOf(caller));
      const user = await admit(tx, { ...parts, now: clock.now() }, caller.spaceId, { email, role, name, externalId });
      tx.audit.note({ subject: user.id, after: told(user) });
      return user;
    },

    async update(tx, caller, ref, change) {
      checkChange(change);
      const user = await locked(tx, caller, ref);
      const step = update(user, change, clock.now());
      await checkExternalId(tx, caller, user, change.externalId);
      return take(tx, caller, user, step);
    },

    async delegate(tx, caller, id, toId, role) {
      const user = await locked(tx, caller, { id });
      const target = await found(tx, caller, { id: toId });
      const address = delegateAddress(user.id, delegateDomain);
      const step = delegate(user, target, role, address, clock.now());
      if (!(await isFree(tx, caller, user, address))) throw new Failure("precondition", "the delegate address is a member's");
      return take(tx, caller, user, step);
    },

    async reclaim(tx, caller, id) {
      const user = await locked(tx, caller, { id });
      const { delegation } = user;
      const step = reclaim(user, delegation !== null && (await isFree(tx, caller, user, delegation.originalEmail)));
      return { ...(await take(tx, caller, user, step)), previousDelegate: delegation?.to ?? "" };
    },

    async rename(tx, caller, id, name) {
      checkName("display_name", name);
      const user = await locked(tx, caller, { id });
      checkNotOwner(user);
      return take(tx, caller, user, { set: { name }, ends: null, returns: false });
    },

    async remove(tx, caller, id) {
      const user = await locked(tx, caller, { id });
      return take(tx, caller, user, remove(user, clock.now()));
    },
  };
}

/** @throws Failure `forbidden` in a personal space: it has no members, and never will. */
function teamOf({ role, spaceId }: Caller): string {
  if (role === null) throw new Failure("forbidden", "a personal space has no members");
  return spaceId;
}

/** @throws Failure `invalid` where neither is given, `absent` for nobody of the team. */
async function found(tx: Tx, caller: Caller, ref: TeamUserRef): Promise<TeamUser> {
  const spaceId = teamOf(caller);
  if (ref.id === undefined && ref.email === undefined) throw invalid("", "email or team_user_id must be given");
  const user = await tx.members.find(spaceId, ref);
  if (user === null) throw absent("team user");
  return user;
}

/** The member, whom nobody else changes before this change ends: those of one team follow each other. */
async function locked(tx: Tx, caller: Caller, ref: TeamUserRef): Promise<TeamUser> {
  await tx.accounts.lockSpace(teamOf(caller));
  return found(tx, caller, ref);
}

const inFull = async (tx: Tx, user: TeamUser): Promise<TeamUserInFull> => ({ user, holds: await tx.members.holds(user.id) });

async function isFree(tx: Tx, { spaceId }: Caller, { id }: TeamUser, email: string): Promise<boolean> {
  const holder = await tx.members.find(spaceId, { email });
  return holder === null || holder.id === id;
}

/** @throws Failure `exists` for another living member's. */
async function checkExternalId(tx: Tx, { spaceId }: Caller, { id }: TeamUser, externalId: string | null | undefined): Promise<void> {
  if (externalId === undefined || externalId === null) return;
  const { users } = await tx.members.list(spaceId, { externalId, limit: 1, offset: 0 });
  if (users.some((user) => user.id !== id)) throw new Failure("exists", "external_id: is another member's");
}

/** @throws Failure `invalid` */
function checkName(path: string, name: string): void {
  if (!nameForm.test(name)) throw invalid(path, "must have 1 to 255 characters, and no control characters");
}

/** What a member who goes has held is inactive, and nobody's. */
async function returnHeld(tx: Tx, spaceId: string, holderId: string): Promise<Cascaded["cascade"]> {
  const held = await tx.members.holds(holderId);
  for (const { id } of held) {
    const user = await tx.members.find(spaceId, { id });
    if (user === null) continue;
    const { email = user.email } = { email: user.delegation?.originalEmail };
    const other = await tx.members.find(spaceId, { email });
    await tx.members.update(spaceId, id, reclaim(user, other === null || other.id === id).set);
  }
  return held.map(({ id, displayName }) => ({ id, displayName }));
}

/** The member as the row is after a step. */
const changed = (user: TeamUser, { set }: Step): TeamUser => {
  const { removedAt: _, ...members } = set;
  return { ...user, ...members };
};

/** What the audit log says of a member. */
const told = ({ email, name, status, role, delegation, externalId }: TeamUser) => ({
  ...{ email, name, status, role },
  delegatedTo: delegation?.to ?? null,
  ...(externalId === null ? {} : { externalId }),
});
