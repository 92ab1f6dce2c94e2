import type { CreationContext } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";
import { removalOperation } from "./chain.ts";

/**
 * Removes sealed rows from the beginning of a space's chain, all of them before a time, and writes the anchor
 * from which the chain is verified. The removal is itself a row of the log. A log that has only records of
 * removals stays as it is.
 *
 * @param before Unix milliseconds.
 * @param max rows of one change.
 * @returns the number of removed rows; 0 also while another process seals the log.
 */
export async function removeOldAudit(
  tx: Tx,
  { now, ids }: Pick<CreationContext, "now" | "ids">,
  spaceId: string,
  before: number,
  max: number,
): Promise<number> {
  // The head's lock excludes sealing and other removals.
  if (!(await tx.auditChain.lockHeads([spaceId])).has(spaceId)) return 0;
  const rows = await tx.auditChain.sealed(spaceId, null, max);
  const end = rows.findIndex(({ at }) => at >= before);
  const old = end < 0 ? rows : rows.slice(0, end);
  const last = old.at(-1);
  if (last === undefined || old.every(({ operation }) => operation === removalOperation)) return 0;
  const { seq, hash } = last;
  // Records of removals are found by their time: two never have the same.
  const at = Math.max(now, ((await tx.auditChain.anchor(spaceId))?.removedAt ?? 0) + 1);
  const entry = {
    id: ids.short(),
    at,
    spaceId,
    accountId: "",
    credential: "retention",
    operation: removalOperation,
    requestId: ids.request(),
  };
  await tx.audit.insert({
    ...entry,
    address: "",
    subject: spaceId,
    before: null,
    after: { seq, hash, rows: old.length },
  });
  return tx.auditChain.removeUpTo(spaceId, { seq, hash, removedAt: at });
}
