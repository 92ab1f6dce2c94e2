import type { Role } from "../../core/accounts/account.ts";
import { type CreationContext, createKey } from "../../core/keys/api-key.ts";
import type { Store, Tx } from "../../core/store.ts";

export interface TestSpace {
  readonly spaceId: string;
  readonly apiKey: string;
  readonly memberApiKey: string;
  readonly userId: string;
  readonly memberUserId: string;
}

/** Creates a team with an owner and a member, each with a key. */
export function createSpace(
  store: Store,
  context: CreationContext,
  name: string | undefined,
): Promise<TestSpace> {
  const { ids, now } = context;
  return store.change(async (tx) => {
    const [spaceId, teamId] = [ids.short(), ids.short()];
    await tx.accounts.insertSpace({ id: spaceId, kind: "team", createdAt: now, accountId: null });
    await tx.accounts.insertTeam({
      id: teamId,
      spaceId,
      name: name ?? `Test team ${spaceId}`,
      createdAt: now,
    });
    const owner = await addPerson(tx, context, { spaceId, teamId }, "owner");
    const member = await addPerson(tx, context, { spaceId, teamId }, "member");
    return {
      spaceId,
      apiKey: owner.key,
      memberApiKey: member.key,
      userId: owner.id,
      memberUserId: member.id,
    };
  });
}

async function addPerson(
  tx: Tx,
  context: CreationContext,
  team: { spaceId: string; teamId: string },
  role: Extract<Role, "owner" | "member">,
) {
  const { ids, now } = context;
  const id = ids.uuid();
  const email = `${role}@${team.spaceId.toLowerCase()}.example`;
  await tx.accounts.insertAccount({ id, email, name: null, locale: "en", createdAt: now });
  await tx.accounts.insertMember({
    id: ids.short(),
    ...team,
    accountId: id,
    email,
    role,
    status: "active",
    createdAt: now,
  });
  const { text } = await createKey(tx, context, {
    accountId: id,
    spaceId: team.spaceId,
    kind: "general",
    name: `test ${role}`,
  });
  return { id, key: text };
}
