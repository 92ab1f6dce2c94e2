import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

const heldName = "held-since";
const moveName = "moves-to";
const bytesName = "bytes-kept-until";

/**
 * The settings of an installation that belong to its database: a move to another database leaves them out.
 */
export const databaseSettings: readonly string[] = [heldName, moveName, bytesName];

/**
 * Holds a restored installation: no server starts on it until `release`. So nothing of a backup runs, is
 * delivered or is mailed before an operator has seen what would start.
 */
export const hold = (tx: Tx, now: number): Promise<void> => tx.settings.put(heldName, String(now));

/** The move of an installation to another database. */
export interface Move {
  readonly id: string;
  /** The location of the other database, for people. */
  readonly to: string;
}

/**
 * Holds an installation that moves to another database. Its hold stays after the move, so that no operator
 * continues with it by mistake.
 */
export async function holdForMove(tx: Tx, now: number, move: Move): Promise<void> {
  await tx.settings.put(moveName, JSON.stringify(move));
  await hold(tx, now);
}

/** Begun or complete; null without one. */
export async function findMove({ settings }: Pick<Tx, "settings">): Promise<Move | null> {
  const stored = (await settings.get(moveName)) ?? "";
  return stored === "" ? null : JSON.parse(stored);
}

/**
 * Ends the hold. Returns whether there was one.
 *
 * @throws Failure `failed_precondition` for an installation that has moved, unless `abandonsMove`.
 */
export async function release(tx: Tx, abandonsMove = false): Promise<boolean> {
  const move = await findMove(tx);
  if (move !== null && !abandonsMove) throw moved(move);
  if (move !== null) await tx.settings.put(moveName, "");
  const wasHeld = await isHeld(tx);
  if (wasHeld) await tx.settings.put(heldName, "");
  return wasHeld;
}

const isHeld = async ({ settings }: Pick<Tx, "settings">): Promise<boolean> =>
  ((await settings.get(heldName)) ?? "") !== "";

const moved = ({ to }: Move): Failure =>
  new Failure(
    "failed_precondition",
    `this installation was moved to ${to}, or its move has begun: set DATABASE_URL to that database. To continue with this one instead, without what was written there, use \`./atp resume --abandon-move\``,
  );

/** @throws Failure `failed_precondition` for a held installation, with the way out. */
export async function checkNotHeld(tx: Tx): Promise<void> {
  if (!(await isHeld(tx))) return;
  const move = await findMove(tx);
  if (move !== null) throw moved(move);
  throw new Failure(
    "failed_precondition",
    "this installation was restored from a backup and is held: `atp resume` shows what would start, and ends the hold",
  );
}

/**
 * Keeps the bytes of deleted files until this time (Unix milliseconds), while a backup copies them. 0: no
 * longer.
 */
export const keepBytesUntil = (tx: Tx, time: number): Promise<void> =>
  tx.settings.put(bytesName, String(time));

/** Whether bytes of deleted files must be kept at this time. */
export const areBytesKept = async ({ settings }: Pick<Tx, "settings">, now: number): Promise<boolean> =>
  Number((await settings.get(bytesName)) ?? 0) > now;
