import { type ChainReport, verifyChain } from "../../src/core/audit/chain.ts";
import type { Store } from "../../src/core/store.ts";
import { sampleAudit } from "../store/samples.ts";
import type { TestDatabase } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";

/** Writes rows of a space, each in a separate change, at the times 1, 2, 3 … */
export async function putRows(
  store: Store,
  count: number,
  { spaceId = "north", from = 1 } = {},
): Promise<void> {
  for (let n = from; n < from + count; n += 1) {
    const id = `${spaceId}-${String(n).padStart(6, "0")}`;
    await store.change((tx) =>
      tx.audit.insert(
        sampleAudit({ id, at: n, spaceId, subject: `s${n}`, before: { n }, after: { n: n + 1 } }),
      ),
    );
  }
}

/** The fault of a space's chain, and the numbers of its sealed and unsealed rows. */
export async function checkChain(
  store: Store,
  spaceId = "north",
): Promise<{ fault: string | null; sealed: number; unsealed: number }> {
  const { fault, head, unsealed }: ChainReport = await verifyChain(store, spaceId, null);
  return { fault: fault && `${fault.kind} at ${fault.seq}`, sealed: head.seq, unsealed };
}

/** The log's rows in the database. */
export const auditRows = (
  database: TestDatabase,
  spaceId = "north",
): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  runDirectly(database, `SELECT * FROM audit_event WHERE space_id = '${spaceId}' ORDER BY seq, at, id`);
