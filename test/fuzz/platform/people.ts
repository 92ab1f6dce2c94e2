import { loadConfig } from "../../../src/config/config.ts";
import type { Role } from "../../../src/core/accounts/account.ts";
import { type KeyKind, keyKinds } from "../../../src/core/accounts/caller.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { createKey } from "../../../src/core/keys/api-key.ts";
import { findRecipient } from "../../../src/core/keys/recipient.ts";
import { type KeyRestrictions, noRestrictions } from "../../../src/core/keys/restrictions.ts";
import type { Tx } from "../../../src/core/store.ts";
import { invitePerson } from "../../../src/core/use-cases/invite-person.ts";
import { openInstallation } from "../../../src/start/installation.ts";
import type { LimitName } from "../request.ts";

/** Users of the platform in addition to its first owner. */
export interface People {
  /** The owner's keys, one of each kind. */
  readonly keys: ReadonlyMap<KeyKind, string>;
  /** A key of a colleague in the owner's team. */
  readonly colleague: string;
  /** A key of the owner of another team. */
  readonly otherOwner: string;
  /** A key of an account without data. */
  readonly beginner: string;
}

/** Adds people to a running platform, as a command in another process would. */
export const addPeople = (dataDir: string): Promise<People> =>
  changeOutside(dataDir, async (tx) => {
    const { accountId, spaceId } = await findRecipient(tx, { kind: "general" });
    const keys = new Map<KeyKind, string>();
    for (const kind of keyKinds) keys.set(kind, await newKey(tx, accountId, spaceId, kind));
    const teamId = (await tx.accounts.firstTeam())?.id ?? "";
    const colleague = await newMember(tx, spaceId, teamId, "member");
    return { keys, colleague, otherOwner: await newOwner(tx), beginner: await newOwner(tx) };
  });

/** Adds members to the first team of a running platform. @returns a key of each, in order */
export const addMembers = (
  dataDir: string,
  roles: readonly Exclude<Role, "owner">[],
): Promise<readonly string[]> =>
  changeOutside(dataDir, async (tx) => {
    const { id, spaceId } = (await tx.accounts.firstTeam()) ?? { id: "", spaceId: "" };
    const keys: string[] = [];
    for (const role of roles) keys.push(await newMember(tx, spaceId, id, role));
    return keys;
  });

/** Adds members of the first team with a password, as it is stored. */
export const addPasswords = (
  dataDir: string,
  people: readonly { readonly email: string; readonly stored: string }[],
): Promise<void> =>
  changeOutside(dataDir, async (tx) => {
    for (const { email, stored } of people) {
      const { accountId } = await invitePerson(tx, making(), { email });
      await tx.signIns.setPassword(accountId, stored);
    }
  });

/** Adds keys of the owner with limits; the one of a project is for this one. */
export const addLimitedKeys = (
  dataDir: string,
  projectId: string,
): Promise<Readonly<Record<LimitName, string>>> =>
  changeOutside(dataDir, async (tx) => {
    const { accountId, spaceId } = await findRecipient(tx, { kind: "general" });
    const limited = async (name: LimitName, restrictions: Partial<KeyRestrictions>, expiresAt?: number) => {
      const input = {
        accountId,
        spaceId,
        kind: "general",
        name,
        restrictions: { ...noRestrictions, ...restrictions },
      } as const;
      return (await createKey(tx, making(), { ...input, ...(expiresAt !== undefined && { expiresAt }) }))
        .text;
    };
    return {
      reader: await limited("reader", { scopes: ["task:read"] }),
      project: await limited("project", { projectIds: [projectId] }),
      network: await limited("network", { addressRanges: ["192.0.2.0/24"] }),
      expired: await limited("expired", {}, systemClock.now() - 1),
    };
  });

async function changeOutside<Made>(dataDir: string, work: (tx: Tx) => Promise<Made>): Promise<Made> {
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
  const { store } = await openInstallation(loadConfig({ DATA_DIR: dataDir }), outside, async () => undefined);
  try {
    return await store.change(work);
  } finally {
    await store.close();
  }
}

const making = () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom });

async function newKey(tx: Tx, accountId: string, spaceId: string, kind: KeyKind): Promise<string> {
  return (await createKey(tx, making(), { accountId, spaceId, kind, name: kind })).text;
}

async function newMember(tx: Tx, spaceId: string, teamId: string, role: Role): Promise<string> {
  const accountId = systemIds.uuid();
  const createdAt = systemClock.now();
  const email = `${accountId}@example.com`;
  await tx.accounts.insertAccount({ id: accountId, email, name: null, locale: "en", createdAt });
  await tx.accounts.insertMember({
    id: systemIds.short(),
    teamId,
    spaceId,
    accountId,
    email,
    role,
    status: "active",
    createdAt,
  });
  return newKey(tx, accountId, spaceId, "general");
}

async function newOwner(tx: Tx): Promise<string> {
  const spaceId = systemIds.short();
  const teamId = systemIds.short();
  const createdAt = systemClock.now();
  await tx.accounts.insertSpace({ id: spaceId, kind: "team", createdAt, accountId: null });
  await tx.accounts.insertTeam({ id: teamId, spaceId, name: spaceId, createdAt });
  return newMember(tx, spaceId, teamId, "owner");
}
