import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

const heldName = "held-since";
const bytesName = "bytes-kept-until";

/**
 * Holds a restored installation: no server starts on it until `release`. So nothing of a backup runs, is delivered or is mailed
 * before an operator has seen what would start.
 */
export const hold = (tx: Tx, now: number): Promise<void> => tx.settings.put(heldName, String(now));

/** Ends the hold. Returns whether there was one. */
export async function release(tx: Tx): Promise<boolean> {
  const wasHeld = await isHeld(tx);
  if (wasHeld) await tx.settings.put(heldName, "");
  return wasHeld;
}

const isHeld = async ({ settings }: Pick<Tx, "settings">): Promise<boolean> => ((await settings.get(heldName)) ?? "") !== "";

/** @throws Failure `failed_precondition` for a held installation, with the way out. */
export async function checkNotHeld(tx: Tx): Promise<void> {
  if (!(await isHeld(tx))) return;
  throw new Failure(
    "failed_precondition",
    "this installation was restored from a backup and is held: `atp resume` shows what would start, and ends the hold",
  );
}

/** Keeps the bytes of deleted files until this time (Unix milliseconds), while a backup copies them. 0: no longer. */
export const keepBytesUntil = (tx: Tx, time: number): Promise<void> => tx.settings.put(bytesName, String(time));

/** Whether bytes of deleted files must be kept at this time. */
export const areBytesKept = async ({ settings }: Pick<Tx, "settings">, now: number): Promise<boolean> =>
  Number((await settings.get(bytesName)) ?? 0) > now;
