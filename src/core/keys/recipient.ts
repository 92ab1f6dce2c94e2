import type { Member, Team } from "../accounts/account.ts";
import type { KeyKind } from "../caller.ts";
import { absent, Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

/** Whose key a command asks for (contract/decisions.md 3). */
export interface RecipientQuery {
  /** Without it the team's owner. */
  readonly email?: string | undefined;
  /** Without it the first team. */
  readonly team?: string | undefined;
  readonly kind: KeyKind;
}

/** An account in a space. */
export interface Recipient {
  readonly accountId: string;
  readonly spaceId: string;
}

/**
 * The account and space that a new key is to belong to. A person outside the first
 * team, who has a personal space, gets a key of that.
 *
 * @throws Failure `absent` or `precondition`.
 */
export async function findRecipient(tx: Tx, { email, team: name, kind }: RecipientQuery): Promise<Recipient> {
  const team = await (name === undefined ? tx.accounts.firstTeam() : tx.accounts.teamByName(name));
  if (!team) throw absent(name === undefined ? "team" : `team ${JSON.stringify(name)}`);
  const owner = await tx.accounts.owner(team.id);
  const recipient = email === undefined ? owner : await person(tx, email, name === undefined ? "anywhere" : "team", team);
  if (!recipient) throw absent("the team's owner");
  if (kind !== "general" && (recipient.accountId !== owner?.accountId || recipient.spaceId !== team.spaceId)) {
    throw new Failure("precondition", `a key of kind ${kind} belongs to the team's owner`);
  }
  return { accountId: recipient.accountId, spaceId: recipient.spaceId };
}

async function person(tx: Tx, email: string, where: "team" | "anywhere", team: Team): Promise<Recipient> {
  await tx.accounts.lockSpace(team.spaceId);
  const account = await tx.accounts.byEmail(email.toLowerCase());
  const member = account && (await tx.accounts.member(team.id, account.id));
  if (member && member.status !== "removed") return active(tx, member, email);
  const personal = account && where === "anywhere" ? await tx.accounts.personalSpace(account.id) : null;
  if (account && personal) return { accountId: account.id, spaceId: personal.id };
  throw absent(`${email} in team ${JSON.stringify(team.name)}`);
}

async function active(tx: Tx, member: Member, email: string): Promise<Recipient> {
  const user = await tx.members.find(member.spaceId, { id: member.id });
  const standing = user?.delegation ? "delegated" : member.status;
  if (standing !== "active") throw new Failure("precondition", `${email} is ${standing} in the team`);
  return member;
}
