import type { Member } from "../accounts/account.ts";
import { type CreationContext, createKey } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";

const firstTeamName = "main";

/**
 * Sets up an empty installation: an account that is the operator, its team and space, the owner's
 * membership and a general key. Only the first of concurrent processes does so.
 *
 * @returns the key's text; null when there is a team already.
 */
export async function initializeInstallation(
  tx: Tx,
  context: CreationContext,
  email: string,
): Promise<string | null> {
  const owner = await createFirstAccount(tx, context, email);
  if (!owner) return null;
  const { text } = await createKey(tx, context, {
    accountId: owner.accountId,
    spaceId: owner.spaceId,
    kind: "general",
    name: "first key",
  });
  return text;
}

/** As `initializeInstallation` without a key; null when there is a team already. */
export async function createFirstAccount(
  tx: Tx,
  { now, ids }: CreationContext,
  email: string,
): Promise<Member | null> {
  // Locks this row, so that of two processes the second reads the rows of the first.
  await tx.settings.put("first-start", "done");
  if (await tx.accounts.firstTeam()) return null;
  const accountId = ids.uuid();
  const spaceId = ids.short();
  const teamId = ids.short();
  await tx.accounts.insertAccount({
    id: accountId,
    email: email.toLowerCase(),
    name: null,
    locale: "en",
    createdAt: now,
    operator: true,
  });
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
