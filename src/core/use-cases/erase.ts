import type { Clock } from "../clock.ts";
import type { Erased, ErasureTarget } from "../erasure/erasure.ts";
import { Failure } from "../failure.ts";
import type { FileSweep } from "../files/sweep.ts";
import type { PublishTask, Store, Tx } from "../store.ts";
import { endMembership } from "./end-membership.ts";
import { returnProfiles } from "./manage-team.ts";

export interface EraseParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly publishTask: PublishTask;
  /** Deletes dropped bytes from the storage. */
  readonly sweep: FileSweep["sweep"];
  /** Adds to the list of erasures outside of the database, before anything is deleted. */
  readonly record: (erased: readonly Erased[]) => Promise<void>;
  /** Removes deleted rows from the files of the database. */
  readonly compact: () => Promise<void>;
  readonly onProgress: (rows: number) => void;
}

/** Rows of one change. */
const batchMax = 500;
/** Other processes delete bytes too: they are waited for, at most this many times. */
const bytesTries = 90;
const bytesEveryMs = 1_000;

/**
 * Completes the erasures on the list. It can be killed and called again at any point: every step that is done
 * finds nothing to do. Servers can run: access ends first, so nothing new is written.
 *
 * @returns the completed erasures.
 * @throws Failure `failed_precondition` while bytes cannot be deleted
 */
export async function eraseOpen(parts: EraseParts): Promise<readonly Erased[]> {
  const { store, clock } = parts;
  const open = await store.erasures.listOpen();
  if (open.length === 0) return [];
  await parts.record(open);
  for (const { kind, subject } of open) await (kind === "person" ? erasePerson : eraseSpace)(parts, subject);
  await deleteBytes(parts);
  await parts.compact();
  await store.change(async (tx) => {
    for (const each of open) await tx.erasures.complete(each, clock.now());
  });
  return open;
}

async function erasePerson(parts: EraseParts, accountId: string): Promise<void> {
  const { store } = parts;
  const person = await store.erasures.findPerson(accountId);
  for (const { spaceId } of await store.erasures.spacesOf(accountId))
    await store.change((tx) => leave(tx, parts, accountId, spaceId));
  await deleteRows(parts, { kind: "person", accountId, email: person?.email ?? null });
}

async function eraseSpace(parts: EraseParts, spaceId: string): Promise<void> {
  const { store } = parts;
  const space = await store.erasures.findSpace(spaceId);
  for (const accountId of space?.accountIds ?? [])
    await store.change((tx) => end(tx, parts, accountId, spaceId));
  await deleteRows(parts, { kind: "space", spaceId });
}

/**
 * Ends a membership. A team whose owner leaves goes to the member with the highest role: only a restored
 * backup can have such a team.
 */
async function leave(tx: Tx, parts: EraseParts, accountId: string, spaceId: string): Promise<void> {
  await tx.accounts.lockSpace(spaceId);
  const owner = await tx.accounts.ownerOf(spaceId);
  const successor = owner?.accountId === accountId ? await tx.erasures.successorOf(spaceId) : null;
  await end(tx, parts, accountId, spaceId);
  if (successor !== null) await tx.accounts.setRole(successor, "owner");
}

/** Ends a person's access to a space, and their runs there. */
async function end(tx: Tx, parts: EraseParts, accountId: string, spaceId: string): Promise<void> {
  await tx.accounts.lock(accountId);
  const team = await tx.accounts.teamOf(spaceId);
  const member = team && (await tx.accounts.member(team.id, accountId));
  if (member && member.status !== "removed") {
    await tx.members.update(spaceId, member.id, {
      status: "removed",
      delegation: null,
      removedAt: parts.clock.now(),
    });
    await tx.groups.leaveAll(member.id);
    await returnProfiles(tx, spaceId, member.id);
  }
  await endMembership(tx, parts, { accountId, spaceId }, "removed");
}

/**
 * Deletes until a pass over all tables finds nothing: a call that was admitted before the end of access may
 * still have written.
 */
async function deleteRows({ store, onProgress }: EraseParts, target: ErasureTarget): Promise<void> {
  await store.change((tx) => tx.erasures.clearTexts(target));
  for (let inPass = 1; inPass > 0; ) {
    inPass = 0;
    for (const table of store.erasures.listTables()) {
      for (let deleted = batchMax; deleted === batchMax; ) {
        deleted = await store.change((tx) => tx.erasures.deleteSome(target, table, batchMax));
        inPass += deleted;
        onProgress(deleted);
      }
    }
  }
}

async function deleteBytes({ store, clock, sweep }: EraseParts): Promise<void> {
  const never = new AbortController().signal;
  let left = new Set(await store.erasures.droppedBytes());
  for (let tries = 0; left.size > 0; tries += 1) {
    await sweep(never);
    left = left.intersection(new Set(await store.erasures.droppedBytes()));
    if (left.size > 0 && tries >= bytesTries)
      throw new Failure(
        "failed_precondition",
        `the bytes of ${left.size} files are not deleted yet: a backup is running, or the storage refuses. Then run: ./atp erase --pending`,
      );
    if (left.size > 0) await clock.sleep(bytesEveryMs);
  }
}
