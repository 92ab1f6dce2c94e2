import type { Member, Team } from "../accounts/account.ts";
import type { KeyKind } from "../accounts/caller.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";

/** The recipient of a key that a command creates (spec/decisions.md 3). */
export interface RecipientQuery {
  /** Default: the team's owner. */
  readonly email?: string | undefined;
  /** Default: the first team. */
  readonly team?: string | undefined;
  readonly kind: KeyKind;
}

export interface Recipient {
  readonly accountId: string;
  readonly spaceId: string;
}

/**
 * Finds the account and the space of a new key. A person outside the first team who
 * has a personal space gets a key of that space.
 *
 * @throws Failure `not_found` or `failed_precondition`.
 */
export async function findRecipient(tx: Tx, { email, team: name, kind }: RecipientQuery): Promise<Recipient> {
  const team = await (name === undefined ? tx.accounts.firstTeam() : tx.accounts.teamByName(name));
  if (!team) throw notFound(name === undefined ? "team" : `team ${JSON.stringify(name)}`);
  const owner = await tx.accounts.owner(team.id);
  const recipient =
    email === undefined ? owner : await findPerson(tx, email, name === undefined ? "anywhere" : "team", team);
  if (!recipient) throw notFound("the team's owner");
  if (
    kind !== "general" &&
    (recipient.accountId !== owner?.accountId || recipient.spaceId !== team.spaceId)
  ) {
    throw new Failure("failed_precondition", `a key of kind ${kind} belongs to the team's owner`);
  }
  return { accountId: recipient.accountId, spaceId: recipient.spaceId };
}

async function findPerson(tx: Tx, email: string, where: "team" | "anywhere", team: Team): Promise<Recipient> {
  await tx.accounts.lockSpace(team.spaceId);
  const account = await tx.accounts.byEmail(email.toLowerCase());
  const member = account && (await tx.accounts.member(team.id, account.id));
  if (member && member.status !== "removed") return requireActive(tx, member, email);
  const personal = account && where === "anywhere" ? await tx.accounts.personalSpace(account.id) : null;
  if (account && personal) return { accountId: account.id, spaceId: personal.id };
  throw notFound(`${email} in team ${JSON.stringify(team.name)}`);
}

async function requireActive(tx: Tx, member: Member, email: string): Promise<Recipient> {
  const user = await tx.members.find(member.spaceId, { id: member.id });
  const status = user?.delegation ? "delegated" : member.status;
  if (status !== "active") throw new Failure("failed_precondition", `${email} is ${status} in the team`);
  return member;
}
