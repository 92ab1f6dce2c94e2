import type { AuditRows } from "../../core/audit/audit.ts";
import { changeOf, type Session } from "../session.ts";
import { insertInto, sql } from "../sql.ts";

/** The audit log as rows; what a change notes of itself lives as long as the change. */
export function auditRows(session: Session): AuditRows {
  return {
    note(note) {
      const change = changeOf(session);
      change.note = { ...change.note, ...note };
    },
    noted: () => session.change?.note ?? {},
    async insert(entry) {
      const { requestId, spaceId, accountId, before, after, ...same } = entry;
      const row = {
        ...same,
        request_id: requestId,
        space_id: spaceId,
        account_id: accountId,
        before: jsonOf(before),
        after: jsonOf(after),
      };
      await session.execute(insertInto("audit_event", [row]));
    },
    async refuse(refusals) {
      if (refusals.length === 0) return [];
      const rows = refusals.map(({ requestId, spaceId, accountId, ...same }) => ({
        ...same,
        outcome: "refused",
        request_id: requestId,
        space_id: spaceId,
        account_id: accountId,
      }));
      const written = await session.query<{ readonly id: string }>(sql`
        ${insertInto("audit_event", rows)}
        ON CONFLICT (id) DO UPDATE SET count = audit_event.count + excluded.count WHERE audit_event.seq IS NULL RETURNING id`);
      return rows.map(({ id }) => id).filter((id) => !written.some((row) => row.id === id));
    },
  };
}

const jsonOf = (value: object | null): string | null => value && JSON.stringify(value);
