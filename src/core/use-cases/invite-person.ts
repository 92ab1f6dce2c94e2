import { type Account, lockAccountByEmail, type Role, type Team } from "../accounts/account.ts";
import { ensureDefaultAgents } from "../agents/agent.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { createLink } from "../sign-in/link.ts";
import type { Tx } from "../store.ts";
import { checkTeamName } from "../teams/team-name.ts";

/** The invited person, and the target (spec/decisions.md 3). */
export interface Invitation {
  readonly email: string;
  /** Absent: the first team. An unknown team is created, with the person as its owner. */
  readonly team?: string | undefined;
  /** Absent: member. Ignored for a person who is in the team already. */
  readonly role?: Role | undefined;
  /** Invites to a personal space instead of a team. */
  readonly personal?: boolean;
}

/** An invited person. The link is returned only once. */
export interface InvitationResult {
  readonly accountId: string;
  readonly spaceId: string;
  readonly email: string;
  /** The team's name; null for a personal space. */
  readonly team: string | null;
  readonly link: string;
}

const emailForm = /^[^\s@,;<>"()\\\p{Cc}]{1,64}@[^\s@,;<>"()\\\p{Cc}]{1,190}$/u;

/** Whether a text has the form of an e-mail address that can be invited. */
export const isEmailAddress = (text: string): boolean => emailForm.test(text);

/**
 * Creates the missing rows of account, team, membership (active at once) and agent,
 * and a one-time link. A person who is a member already only gets a new link.
 *
 * @throws Failure `invalid_argument` for an invalid address or name; `failed_precondition` for a
 * second owner, a new team without an owner, or a person who may not sign in there.
 */
export async function invitePerson(
  tx: Tx,
  context: CreationContext,
  invitation: Invitation,
): Promise<InvitationResult> {
  const email = invitation.email.trim().toLowerCase();
  if (!isEmailAddress(email)) throw invalidArgument("email", "must be an e-mail address");
  // Serializes invitations on the first team's row: two of one person, or of two owners, run sequentially.
  const first = await tx.accounts.firstTeam();
  if (!first) throw notFound("team");
  await tx.accounts.lockSpace(first.spaceId);
  const membership = await (invitation.personal
    ? ownSpace(tx, context, email)
    : teamSpace(tx, context, email, invitation, first));
  await ensureDefaultAgents(tx, context);
  return { ...membership, email, link: await createLink(tx, context, membership) };
}

type Membership = Pick<InvitationResult, "accountId" | "spaceId" | "team">;

async function ownSpace(tx: Tx, context: CreationContext, email: string): Promise<Membership> {
  const existing = await tx.accounts.byEmail(email);
  const space = existing && (await tx.accounts.personalSpace(existing.id));
  if (existing && !space)
    throw new Failure("failed_precondition", `${email} has an account without a personal space`);
  if (existing && space) return { accountId: existing.id, spaceId: space.id, team: null };
  const account = await newAccount(tx, context, email);
  const spaceId = context.ids.short();
  await tx.accounts.insertSpace({
    id: spaceId,
    kind: "personal",
    createdAt: context.now,
    accountId: account.id,
  });
  tx.audit.note({ subject: account.id, after: { personal: true } });
  return { accountId: account.id, spaceId, team: null };
}

async function teamSpace(
  tx: Tx,
  context: CreationContext,
  email: string,
  { team: name, role = "member" }: Invitation,
  first: Team,
): Promise<Membership> {
  const team = name === undefined ? first : await tx.accounts.teamByName(name);
  // Lock order: first team, then this team, as for every change of its members.
  if (team) await tx.accounts.lockSpace(team.spaceId);
  if (!team && role !== "owner")
    throw new Failure(
      "failed_precondition",
      `team ${JSON.stringify(name)} does not exist: invite its owner first`,
    );
  const account = await lockAccountByEmail(tx, email);
  const member = team && account && (await tx.accounts.member(team.id, account.id));
  if (member && member.status !== "removed") {
    await checkMaySignIn(tx, account.id, member.spaceId, email);
    return { accountId: account.id, spaceId: member.spaceId, team: team.name };
  }
  if (team && role === "owner" && (await tx.accounts.owner(team.id)))
    throw new Failure("failed_precondition", `team ${JSON.stringify(team.name)} has an owner`);
  return addMember(
    tx,
    context,
    account ?? (await newAccount(tx, context, email)),
    team ?? (await newTeam(tx, context, name ?? "")),
    role,
  );
}

async function checkMaySignIn(tx: Tx, accountId: string, spaceId: string, email: string): Promise<void> {
  const places = await tx.signIns.listSpaces(accountId);
  if (!places.some((membership) => membership.spaceId === spaceId))
    throw new Failure("failed_precondition", `${email} is inactive or delegated in the team`);
}

async function addMember(
  tx: Tx,
  { now, ids }: CreationContext,
  { id: accountId, email }: Account,
  team: Team,
  role: Role,
): Promise<Membership> {
  const { id: teamId, spaceId } = team;
  const id = ids.short();
  await tx.accounts.insertMember({
    id,
    teamId,
    spaceId,
    accountId,
    email,
    role,
    status: "active",
    createdAt: now,
  });
  tx.audit.note({ subject: id, after: { role } });
  return { accountId, spaceId, team: team.name };
}

async function newAccount(tx: Tx, { now, ids }: CreationContext, email: string): Promise<Account> {
  const account = { id: ids.uuid(), email, name: null, locale: "en", createdAt: now };
  await tx.accounts.insertAccount(account);
  return account;
}

async function newTeam(tx: Tx, { now, ids }: CreationContext, name: string): Promise<Team> {
  checkTeamName("team", name);
  const team = { id: ids.short(), spaceId: ids.short(), name, createdAt: now };
  await tx.accounts.insertSpace({ id: team.spaceId, kind: "team", createdAt: now, accountId: null });
  await tx.accounts.insertTeam(team);
  return team;
}
