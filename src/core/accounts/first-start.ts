import { type Making, makeKey } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import type { Member } from "./account.ts";

/** The first team's name until its owner gives it another. */
const firstTeamName = "main";

/**
 * What an empty installation needs: an account, its team and space, the owner's
 * membership and a general key. Happens once, whoever comes first.
 *
 * @returns the key's text; null when there is a team already.
 */
export async function firstStart(tx: Tx, making: Making, email: string): Promise<string | null> {
  const owner = await makeFirstAccount(tx, making, email);
  if (!owner) return null;
  const { text } = await makeKey(tx, making, { accountId: owner.accountId, spaceId: owner.spaceId, kind: "general", name: "first key" });
  return text;
}

/** As `firstStart` without a key; null when there is a team already. */
export async function makeFirstAccount(tx: Tx, { now, ids }: Making, email: string): Promise<Member | null> {
  // Two processes that start at once meet at this row: the second reads what the first committed.
  await tx.settings.put("first-start", "done");
  if (await tx.accounts.firstTeam()) return null;
  const accountId = ids.uuid();
  const spaceId = ids.short();
  const teamId = ids.short();
  await tx.accounts.insertAccount({ id: accountId, email: email.toLowerCase(), name: null, locale: "en", createdAt: now });
  await tx.accounts.insertSpace({ id: spaceId, kind: "team", createdAt: now, accountId: null });
  await tx.accounts.insertTeam({ id: teamId, spaceId, name: firstTeamName, createdAt: now });
  const owner: Member = {
    id: ids.short(),
    teamId,
    spaceId,
    accountId,
    email: email.toLowerCase(),
    role: "owner",
    status: "active",
    createdAt: now,
  };
  await tx.accounts.insertMember(owner);
  return owner;
}
