import type { KeyRing } from "../cipher.ts";
import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import { dayMs, purging } from "./timed-job.ts";

/** What a process says about itself. Null in the row of an older release. */
export interface ProcessFacts {
  readonly role: string | null;
  readonly version: string | null;
  readonly host: string | null;
  readonly pid: number | null;
  /** Unix milliseconds. */
  readonly startedAt: number | null;
  /** Resident memory at the last renewal. */
  readonly memoryBytes: number | null;
}

/** A process of any role, with its encryption keys. */
export interface ProcessKeys extends ProcessFacts {
  readonly id: string;
  /** Check values; the key that seals comes first. */
  readonly keys: readonly string[];
  /** Unix milliseconds. */
  readonly renewedAt: number;
}

export interface ProcessKeyRows {
  /** Inserts a process, or replaces its keys, renewal and memory. */
  put(process: Omit<ProcessKeys, keyof ProcessFacts> & Partial<ProcessFacts>): Promise<void>;
  remove(id: string): Promise<void>;
  /** Deletes processes without a renewal since this time: they were killed. */
  purge(before: number): Promise<void>;
  /** Processes that renewed their row after this time. */
  list(after: number): Promise<readonly ProcessKeys[]>;
}

/** The position of an encrypted value: the values of its row's primary key, in the order of the columns. */
export type ValueKey = readonly (string | number)[];

export interface SealedValue {
  readonly key: ValueKey;
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly context: string;
}

/** All stored encrypted values, by their columns. */
export interface SealedRows {
  listColumns(): readonly string[];
  /** The next values of a column, by key. */
  page(column: string, after: ValueKey | null, max: number): Promise<readonly SealedValue[]>;
  /** Replaces a value. False when it has changed since it was read. */
  replace(column: string, value: SealedValue, sealed: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

/** A process without a renewal for this long has ended. */
export const keysLapseMs = 180_000;
export const keysRenewMs = 60_000;
/**
 * A process that reads both keys seals with the new one at most this long after the switch, if the database
 * answers.
 */
export const keysFollowMs = 5_000;
/** A change that sealed before the switch has ended. */
const settleMs = 60_000;

const checkName = "encryption-key-check";
/** The rotation in progress, as JSON; empty without one. */
const rotationName = "encryption-key-rotation";

export interface Rotation {
  /** The check value of the key that is replaced. */
  readonly previous: string;
  /** When the new key began to seal. */
  readonly since: number;
}

export async function findRotation({ settings }: Pick<Tx, "settings">): Promise<Rotation | null> {
  const text = (await settings.get(rotationName)) ?? "";
  // Safe cast: only `switchKey` writes it.
  return text === "" ? null : (JSON.parse(text) as Rotation);
}

/** Why a process cannot use a database with its keys. */
export type KeyFault = "other_key" | "previous_key_missing";

/**
 * Makes the ring seal with the key that the database names. The first process on a database names its newest
 * key.
 */
export async function followKey(tx: Pick<Tx, "settings">, ring: KeyRing): Promise<KeyFault | null> {
  const stored = await tx.settings.get(checkName);
  if (stored === null) {
    ring.sealWith(ring.newest);
    await tx.settings.put(checkName, ring.check);
    return null;
  }
  if (!ring.sealWith(stored)) return "other_key";
  const rotation = await findRotation(tx);
  return rotation === null || ring.checks.includes(rotation.previous) ? null : "previous_key_missing";
}

/**
 * Lets the new key seal, once every process reads it. The rotation is in progress then; a repeated call
 * changes nothing.
 *
 * @throws Failure `failed_precondition` without a previous key, and while a process does not know the new key
 */
export async function switchKey(tx: Tx, ring: KeyRing, now: number): Promise<void> {
  if ((await findRotation(tx)) !== null) return;
  const previous = ring.checks.find((check) => check !== ring.newest);
  if (previous === undefined)
    throw new Failure(
      "failed_precondition",
      "set ENCRYPTION_KEY to the new key and ENCRYPTION_KEY_PREVIOUS to the old one, on every process",
    );
  if ((await tx.settings.get(checkName)) !== previous)
    throw new Failure(
      "failed_precondition",
      "the key is rotated already: ENCRYPTION_KEY_PREVIOUS can be removed",
    );
  const old = (await tx.processKeys.list(now - keysLapseMs)).filter(
    ({ keys }) => !keys.includes(ring.newest),
  );
  if (old.length > 0)
    throw new Failure(
      "failed_precondition",
      `${old.length} running processes do not know the new key: restart them with ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS. ` +
        `A process that was killed counts for ${keysLapseMs / 60_000} minutes`,
    );
  await tx.settings.put(rotationName, JSON.stringify({ previous, since: now } satisfies Rotation));
  await tx.settings.put(checkName, ring.newest);
  ring.sealWith(ring.newest);
  tx.audit.note({ after: { key: ring.newest.slice(0, 8), previous: previous.slice(0, 8) } });
}

/**
 * Ends a rotation: the previous key is needed no more.
 *
 * @param left values that only the previous key opens.
 * @throws Failure `failed_precondition` without a rotation, while such values are left, and while a process
 * may write one
 */
export async function finishRotation(tx: Tx, ring: KeyRing, now: number, left: number): Promise<void> {
  const rotation = await findRotation(tx);
  if (rotation === null) throw new Failure("failed_precondition", "no rotation of the key is in progress");
  if (left > 0)
    throw new Failure(
      "failed_precondition",
      `${left} values are encrypted by the old key: ./atp rotate-key --status shows where; run ./atp rotate-key`,
    );
  const sealsOld = (await tx.processKeys.list(now - keysLapseMs)).some(({ keys }) => keys[0] !== ring.newest);
  if (sealsOld || now < rotation.since + settleMs)
    throw new Failure(
      "failed_precondition",
      "processes may still write with the old key: try again in a minute",
    );
  await tx.settings.put(rotationName, "");
  tx.audit.note({ after: { key: ring.newest.slice(0, 8), previous: null } });
}

/** Rows of processes that were killed are deleted after a day. */
export const purgeProcesses = purging("purge-processes", (tx, now) => tx.processKeys.purge(now - dayMs));
