import { lockAccountByEmail } from "../accounts/account.ts";
import { ensureDefaultAgents, makeDefaultAgent } from "../agents/agent.ts";
import { Failure } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { createLink } from "../sign-in/link.ts";
import type { Tx } from "../store.ts";
import type { GrantableRole, TeamUser } from "../teams/team-user.ts";

/** A person who was added to a team, with a one-time sign-in link. */
export interface Newcomer {
  readonly email: string;
  readonly team: string;
  /** The link's secret, returned only once. */
  readonly link: string;
}

/** A new member's invitation for single sign-on is valid for one year. */
const invitationMs = 365 * 24 * 3_600_000;

/** The validated input of a new member. */
interface Applicant {
  readonly email: string;
  readonly role: GrantableRole;
  readonly name: string | null;
  readonly externalId: string | null;
}

/** The sources of new rows, and the sender of invitations. */
export interface Joining extends CreationContext {
  readonly invite: ((newcomer: Newcomer) => void) | null;
}

/**
 * Creates a membership, active at once, with an agent and an open invitation, and the account if there is
 * none. The result reveals nothing of the account's other spaces (spec/decisions.md 5). The caller has locked
 * the space.
 *
 * @throws Failure `already_exists` when a current member has the address, the account or the external id. A
 * delegated profile counts too: its account is in the team under its delegate address.
 */
export async function admitMember(
  tx: Tx,
  context: Joining,
  spaceId: string,
  applicant: Applicant,
): Promise<TeamUser> {
  const { email, externalId } = applicant;
  const { now, ids } = context;
  const team = await tx.accounts.teamOf(spaceId);
  if (team === null) throw new Failure("permission_denied", "a personal space has no members");
  if (await tx.members.find(spaceId, { email }))
    throw new Failure("already_exists", "email: is already used by a member");
  if (externalId !== null && (await tx.members.list(spaceId, { externalId, limit: 1, offset: 0 })).total > 0)
    throw new Failure("already_exists", "external_id: is already used by a member");
  const { accountId, isNew } = await findOrCreateAccount(tx, context, email);
  const existing = isNew ? null : await tx.accounts.member(team.id, accountId);
  if (existing !== null && existing.status !== "removed")
    throw new Failure("already_exists", "email: is already used by a member");
  const member = { id: ids.short(), ...applicant, accountId, status: "active", createdAt: now } as const;
  await tx.members.insert({ ...member, teamId: team.id, spaceId });
  if (isNew) await makeDefaultAgent(tx, context, { accountId, spaceId });
  else await ensureDefaultAgents(tx, context);
  await openInvitation(tx, context, { email, team: team.name }, { accountId, spaceId });
  return { ...member, delegation: null };
}

/**
 * Creates the invitation by which single sign-on recognizes the person at their first sign-in
 * (spec/decisions.md 34); its text is discarded. When mail is configured, also sends a separate link.
 */
export async function openInvitation(
  tx: Tx,
  context: Joining,
  recipient: Omit<Newcomer, "link">,
  target: Pick<TeamUser, "accountId"> & { spaceId: string },
) {
  await createLink(tx, context, target, { lifeMs: invitationMs });
  const { invite } = context;
  if (invite === null) return;
  const link = await createLink(tx, context, target);
  tx.afterCommit(() => invite({ ...recipient, link }));
}

async function findOrCreateAccount(
  tx: Tx,
  { now, ids }: CreationContext,
  email: string,
): Promise<{ accountId: string; isNew: boolean }> {
  const account = await lockAccountByEmail(tx, email);
  if (account) return { accountId: account.id, isNew: false };
  const accountId = ids.uuid();
  await tx.accounts.insertAccount({ id: accountId, email, name: null, locale: "en", createdAt: now });
  return { accountId, isNew: true };
}
