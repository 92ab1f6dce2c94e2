import { knownAccount } from "../accounts/known.ts";
import { ensureDefaultAgents, makeDefaultAgent } from "../agents/default-agent.ts";
import { Failure } from "../failure.ts";
import type { Making } from "../keys/make-key.ts";
import { makeLink } from "../sign-in/by-link.ts";
import type { Tx } from "../store.ts";
import type { GrantableRole, TeamUser } from "./team-user.ts";

/** Somebody who was added to a team: the link signs them in to it, once. */
export interface Newcomer {
  readonly email: string;
  /** The team's name. */
  readonly team: string;
  /** The link's secret, given this once. */
  readonly link: string;
}

/** Whoever was added signs in for the first time within so long. */
const invitationMs = 365 * 24 * 3_600_000;

/** Whom to let in; checked. */
interface Applicant {
  readonly email: string;
  readonly role: GrantableRole;
  readonly name: string | null;
  readonly externalId: string | null;
}

/** What a new member is made from. */
interface Joining extends Making {
  readonly invite: ((newcomer: Newcomer) => void) | null;
}

/**
 * Makes a membership, active at once, with an agent and an open invitation, and the account where there is none.
 * What is answered says nothing of an account elsewhere (contract/decisions.md 5). The space is locked.
 *
 * @throws Failure `exists` for the address, the account or the external id of a living member: that of a delegated
 * profile too, whose account is in the team under its delegate address.
 */
export async function admit(tx: Tx, making: Joining, spaceId: string, applicant: Applicant): Promise<TeamUser> {
  const { email, externalId } = applicant;
  const { now, ids } = making;
  const team = await tx.accounts.teamOf(spaceId);
  if (team === null) throw new Failure("forbidden", "a personal space has no members");
  if (await tx.members.find(spaceId, { email })) throw new Failure("exists", "email: is a member's already");
  if (externalId !== null && (await tx.members.list(spaceId, { externalId, limit: 1, offset: 0 })).total > 0)
    throw new Failure("exists", "external_id: is a member's already");
  const { accountId, isNew } = await accountOf(tx, making, email);
  const present = isNew ? null : await tx.accounts.member(team.id, accountId);
  if (present !== null && present.status !== "removed") throw new Failure("exists", "email: is a member's already");
  const member = { id: ids.short(), ...applicant, accountId, status: "active", createdAt: now } as const;
  await tx.members.insert({ ...member, teamId: team.id, spaceId });
  if (isNew) await makeDefaultAgent(tx, making, { accountId, spaceId });
  else await ensureDefaultAgents(tx, making);
  await openInvitation(tx, making, { email, team: team.name }, { accountId, spaceId });
  return { ...member, delegation: null };
}

/**
 * The invitation by which single sign-on knows the person at their first sign-in (contract/decisions.md 34), whose text
 * nobody has; and, where mail is sent, a link of its own.
 */
async function openInvitation(
  tx: Tx,
  making: Joining,
  whom: Omit<Newcomer, "link">,
  guest: Pick<TeamUser, "accountId"> & { spaceId: string },
) {
  await makeLink(tx, making, guest, invitationMs);
  const { invite } = making;
  if (invite === null) return;
  const link = await makeLink(tx, making, guest);
  tx.afterCommit(() => invite({ ...whom, link }));
}

async function accountOf(tx: Tx, { now, ids }: Making, email: string): Promise<{ readonly accountId: string; readonly isNew: boolean }> {
  const account = await knownAccount(tx, email);
  if (account) return { accountId: account.id, isNew: false };
  const accountId = ids.uuid();
  await tx.accounts.insertAccount({ id: accountId, email, name: null, locale: "en", createdAt: now });
  return { accountId, isNew: true };
}
