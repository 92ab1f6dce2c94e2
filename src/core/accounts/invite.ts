import { ensureDefaultAgents } from "../agents/default-agent.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Making } from "../keys/make-key.ts";
import { makeLink } from "../sign-in/by-link.ts";
import type { Tx } from "../store.ts";
import type { Account, Role, Team } from "./account.ts";
import { knownAccount } from "./known.ts";

/** Who is invited, and where to (contract/decisions.md 3). */
export interface Invitation {
  readonly email: string;
  /** Without it the first team. One that is not there is made, for its owner. */
  readonly team?: string | undefined;
  /** Without it member. Of somebody who is in the team already it changes nothing. */
  readonly role?: Role | undefined;
  /** A space of the person's own, instead of a team. */
  readonly personal?: boolean;
}

/** Somebody who was invited: the link is given this once. */
export interface Invited {
  readonly accountId: string;
  readonly spaceId: string;
  readonly email: string;
  /** The team's name; null for a personal space. */
  readonly team: string | null;
  readonly link: string;
}

const emailForm = /^[^\s@,;<>"()\\\p{Cc}]{1,64}@[^\s@,;<>"()\\\p{Cc}]{1,190}$/u;
const teamForm = /^(?!\s)[^\p{Cc}\p{Cs}]{1,100}(?<!\s)$/u;

/**
 * Makes what is not there yet, account, team, membership (active at once) and agent,
 * and a one-time link. Somebody who is there already only gets a fresh link.
 *
 * @throws Failure `invalid` for an address or a name that is none; `precondition` for a
 * second owner, a new team without one, or somebody who may not sign in there.
 */
export async function invite(tx: Tx, making: Making, invitation: Invitation): Promise<Invited> {
  const email = invitation.email.trim().toLowerCase();
  if (!emailForm.test(email)) throw invalid("email", "must be an e-mail address");
  // One after the other: two invitations of one person, or of two owners, meet at the first team's row.
  const first = await tx.accounts.firstTeam();
  if (!first) throw absent("team");
  await tx.accounts.lockSpace(first.spaceId);
  const place = await (invitation.personal ? ownSpace(tx, making, email) : teamSpace(tx, making, email, invitation, first));
  await ensureDefaultAgents(tx, making);
  return { ...place, email, link: await makeLink(tx, making, place) };
}

type Room = Pick<Invited, "accountId" | "spaceId" | "team">;

async function ownSpace(tx: Tx, making: Making, email: string): Promise<Room> {
  const known = await tx.accounts.byEmail(email);
  const space = known && (await tx.accounts.personalSpace(known.id));
  if (known && !space) throw new Failure("precondition", `${email} has an account without a personal space`);
  if (known && space) return { accountId: known.id, spaceId: space.id, team: null };
  const account = await newAccount(tx, making, email);
  const spaceId = making.ids.short();
  await tx.accounts.insertSpace({ id: spaceId, kind: "personal", createdAt: making.now, accountId: account.id });
  tx.audit.note({ subject: account.id, after: { personal: true } });
  return { accountId: account.id, spaceId, team: null };
}

async function teamSpace(tx: Tx, making: Making, email: string, { team: name, role = "member" }: Invitation, first: Team): Promise<Room> {
  const team = name === undefined ? first : await tx.accounts.teamByName(name);
  // And after whatever is done with the members of that team.
  if (team) await tx.accounts.lockSpace(team.spaceId);
  if (!team && role !== "owner")
    throw new Failure("precondition", `there is no team ${JSON.stringify(name)}: its first member is its owner`);
  const account = await knownAccount(tx, email);
  const member = team && account && (await tx.accounts.member(team.id, account.id));
  if (member && member.status !== "removed") {
    await checkEnters(tx, account.id, member.spaceId, email);
    return { accountId: account.id, spaceId: member.spaceId, team: team.name };
  }
  if (team && role === "owner" && (await tx.accounts.owner(team.id)))
    throw new Failure("precondition", `team ${JSON.stringify(team.name)} has an owner`);
  return join(tx, making, account ?? (await newAccount(tx, making, email)), team ?? (await newTeam(tx, making, name ?? "")), role);
}

async function checkEnters(tx: Tx, accountId: string, spaceId: string, email: string): Promise<void> {
  const places = await tx.signIns.places(accountId);
  if (!places.some((place) => place.spaceId === spaceId))
    throw new Failure("precondition", `${email} is inactive or delegated in the team`);
}

async function join(tx: Tx, { now, ids }: Making, { id: accountId, email }: Account, team: Team, role: Role): Promise<Room> {
  const { id: teamId, spaceId } = team;
  const id = ids.short();
  await tx.accounts.insertMember({ id, teamId, spaceId, accountId, email, role, status: "active", createdAt: now });
  tx.audit.note({ subject: id, after: { role } });
  return { accountId, spaceId, team: team.name };
}

async function newAccount(tx: Tx, { now, ids }: Making, email: string): Promise<Account> {
  const account = { id: ids.uuid(), email, name: null, locale: "en", createdAt: now };
  await tx.accounts.insertAccount(account);
  return account;
}

async function newTeam(tx: Tx, { now, ids }: Making, name: string): Promise<Team> {
  if (!teamForm.test(name)) throw invalid("team", "must have 1 to 100 characters, no control characters, and no blank at either end");
  const team = { id: ids.short(), spaceId: ids.short(), name, createdAt: now };
  await tx.accounts.insertSpace({ id: team.spaceId, kind: "team", createdAt: now, accountId: null });
  await tx.accounts.insertTeam(team);
  return team;
}
