import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import type { Admission } from "./admit.ts";

export type WriteAudit = (tx: Tx, admission: Admission) => Promise<void>;

/** Writes the audit row of a change, in the change: who did what, from where, to what. */
export function auditWriter(clock: Clock, ids: Ids): WriteAudit {
  return async (tx, { operation, request, caller }) => {
    const { subject = null, before = null, after = null } = tx.audit.noted();
    await tx.audit.insert({
      id: ids.short(),
      at: clock.now(),
      spaceId: caller.spaceId,
      accountId: caller.accountId,
      credential: `${caller.credential.kind}:${caller.credential.id}`,
      operation: operation.rpc,
      requestId: request.requestId,
      address: request.address,
      subject,
      before,
      after,
    });
  };
}
