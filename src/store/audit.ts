import type { AuditRows } from "../core/audit/audit.ts";
import { changeOf, type Session } from "./session.ts";
import { insertInto } from "./sql.ts";

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
  };
}

const jsonOf = (value: object | null): string | null => value && JSON.stringify(value);
