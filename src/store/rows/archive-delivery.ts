import type { ArchiveRows } from "../../core/exports/archive-rows.ts";
import type { Session } from "../session.ts";
import { allOf, inTexts, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { delivery } = tables;
const attempt = tables.deliveryAttempt.pick("deliveryId", "number", "at", "status", "failure", "latencyMs");

/** The deliveries of webhooks that archives contain. */
export function archivedDeliveries(session: Session): Pick<ArchiveRows, "deliveries" | "attempts"> {
  return {
    async deliveries(webhookId, { startTime, endTime }, after, limit) {
      const conditions = [
        sql`d.webhook_id = ${webhookId}`,
        ...(startTime === null ? [] : [sql`d.created_at >= ${startTime}`]),
        ...(endTime === null ? [] : [sql`d.created_at <= ${endTime}`]),
        ...(after === null ? [] : [sql`(d.created_at, d.id) > (${after.createdAt}, ${after.id})`]),
      ];
      return delivery.rows(session.scans)(sql`
        SELECT ${delivery.of("d")} FROM delivery d WHERE ${allOf(conditions)} ORDER BY d.created_at, d.id LIMIT ${limit}`);
    },
    async attempts(deliveryIds) {
      if (deliveryIds.length === 0) return [];
      return attempt.rows(session.scans)(sql`
        SELECT ${attempt.of("a")} FROM delivery_attempt a
        WHERE a.delivery_id ${inTexts(session.dialect, deliveryIds)} ORDER BY a.delivery_id, a.number`);
    },
  };
}
