import { Failure, invalid } from "../failure.ts";
import { isKeyName, keyNameRule, type Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import { livingWorkersMax, newWorkerText, type Worker, workerDigest } from "./worker.ts";

/** A credential that is asked for. */
export interface WantedWorker {
  readonly spaceId: string;
  /** Who asks. */
  readonly createdBy: string;
  readonly name: string;
  readonly profiles: readonly string[];
}

/**
 * Makes a worker's credential in the change that is open. The text is in the answer,
 * and nowhere else ever again.
 *
 * @throws Failure `invalid` for a name that is none, `exhausted` when the space has 50 living ones.
 */
export async function makeWorker(
  tx: Tx,
  { now, ids, random }: Making,
  { spaceId, createdBy, name, profiles }: WantedWorker,
): Promise<{ readonly worker: Worker; readonly text: string }> {
  if (!isKeyName(name)) throw invalid("name", keyNameRule);
  // The row lock makes counting and inserting one step.
  await tx.accounts.lockSpace(spaceId);
  if ((await tx.workers.countLiving(spaceId)) >= livingWorkersMax)
    throw new Failure("exhausted", `a space has at most ${livingWorkersMax} living worker credentials`);
  const text = newWorkerText(random);
  const made = { id: ids.short(), digest: workerDigest(text), createdAt: now, seenAt: null, revokedAt: null };
  const worker: Worker = { ...made, spaceId, name, profiles, createdBy };
  await tx.workers.insert(worker);
  tx.audit.note({ subject: worker.id, after: { name, profiles: profiles.join(",") } });
  return { worker, text };
}
