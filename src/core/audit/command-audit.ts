import type { Making } from "../keys/make-key.ts";
import type { Recipient } from "../keys/recipient.ts";
import type { Tx } from "../store.ts";

/** Writes the audit row of a change that an operator's command makes: no caller, no request, no address. */
export async function auditCommand(tx: Tx, { now, ids }: Making, { accountId, spaceId }: Recipient, operation: string): Promise<void> {
  const { subject = null, before = null, after = null } = tx.audit.noted();
  const requestId = ids.request();
  await tx.audit.insert({
    id: ids.short(),
    at: now,
    spaceId,
    accountId,
    credential: "command",
    operation,
    requestId,
    address: "",
    subject,
    before,
    after,
  });
}
