import { auditCommand } from "../audit/audit.ts";
import { checkNoHold, type Erased, type ErasureKind, type PersonSpace } from "../erasure/erasure.ts";
import { Failure, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { findRecipient } from "../keys/recipient.ts";
import type { Tx } from "../store.ts";

export interface ErasurePlan {
  /**
   * What the operator must type: the address of a person, the name of a team, the address of the owner of a
   * personal space.
   */
  readonly name: string;
  /** Spaces that no one else uses come before their person. */
  readonly parts: readonly Erased[];
  /** The number of rows by table. */
  readonly counts: Readonly<Record<string, number>>;
  /** Spaces of others that the person is a member of. */
  readonly leaves: readonly string[];
}

/**
 * Finds what an erasure deletes, and counts it. Writes nothing.
 *
 * @param ref an account's id or address, or the id of a space.
 * @throws Failure `not_found`; `failed_precondition` under legal hold, for the owner of a team with other
 * members, and for the last team
 */
export async function planErasure(tx: Tx, kind: ErasureKind, ref: string): Promise<ErasurePlan> {
  const { name, parts, leaves } = kind === "person" ? await planPerson(tx, ref) : await planSpace(tx, ref);
  for (const part of parts) await checkNoHold(tx, part);
  const spaceIds = parts.filter((part) => part.kind === "space").map(({ subject }) => subject);
  if (spaceIds.length > 0 && (await tx.erasures.countOtherTeams(spaceIds)) === 0)
    throw new Failure(
      "failed_precondition",
      "it is the last team: an installation has at least one. Create another team, or delete the installation",
    );
  const counts: Record<string, number> = {};
  for (const { kind: each, subject } of parts) {
    const target =
      each === "space"
        ? ({ kind: each, spaceId: subject } as const)
        : ({ kind: each, accountId: subject, email: name } as const);
    for (const [table, count] of Object.entries(await tx.erasures.count(target)))
      counts[table] = (counts[table] ?? 0) + count;
  }
  return { name, parts, counts, leaves };
}

async function planPerson(tx: Tx, ref: string): Promise<Omit<ErasurePlan, "counts">> {
  const person = await tx.erasures.findPerson(ref);
  if (person === null) throw notFound(`an account ${ref}`);
  const spaces = await tx.erasures.spacesOf(person.accountId);
  const owned = spaces.find(({ isOwner, others }) => isOwner && others > 0);
  if (owned) throw ownerOfMembers(owned);
  const own = spaces.filter(({ isOwner }) => isOwner);
  return {
    name: person.email,
    parts: [
      ...own.map(({ spaceId }) => ({ kind: "space", subject: spaceId }) as const),
      { kind: "person", subject: person.accountId },
    ],
    leaves: spaces.filter(({ isOwner }) => !isOwner).map(({ spaceId }) => spaceId),
  };
}

const ownerOfMembers = ({ team, spaceId, others }: PersonSpace): Failure =>
  new Failure(
    "failed_precondition",
    `the person owns the team ${JSON.stringify(team)}, which has ${others} other members: transfer the team to one of them first ` +
      `(Settings > Team in the console), or erase it: ./atp erase --space ${spaceId}`,
  );

async function planSpace(tx: Tx, ref: string): Promise<Omit<ErasurePlan, "counts">> {
  const space = await tx.erasures.findSpace(ref);
  if (space === null) throw notFound(`a space ${ref}`);
  return { name: space.name, parts: [{ kind: "space", subject: space.spaceId }], leaves: [] };
}

/**
 * Puts an erasure on the list, with a row in the audit logs of the first team and of each team that the
 * person leaves. Nothing is deleted yet. An erasure that is on the list already stays as it is.
 *
 * @throws Failure as `planErasure`
 */
export async function beginErasure(
  tx: Tx,
  context: CreationContext,
  kind: ErasureKind,
  ref: string,
): Promise<readonly Erased[]> {
  const { parts, leaves } = await planErasure(tx, kind, ref);
  const added: Erased[] = [];
  for (const part of parts) if (await tx.erasures.begin(part, context.now)) added.push(part);
  const last = added.at(-1);
  if (last === undefined) return parts;
  tx.audit.note({ subject: last.subject, after: { erased: added.map(({ subject }) => subject) } });
  const recipient = await findRecipient(tx, { kind: "general" });
  const operation = kind === "person" ? "command/ErasePerson" : "command/EraseSpace";
  for (const spaceId of new Set([recipient.spaceId, ...leaves]))
    await auditCommand(tx, context, { ...recipient, spaceId }, operation);
  return parts;
}
