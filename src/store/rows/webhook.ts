import type { Webhook, WebhookEventType, WebhookReach, WebhookRows } from "../../core/webhooks/webhook.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import { changeOf, type Session } from "../session.ts";
import { numberOf, numberOrNull, sql } from "../sql.ts";
import { textsIn } from "./app.ts";
import { cancelPending } from "./delivery-log.ts";

/** Webhooks as rows. */
export function webhookRows(session: Session): WebhookRows {
  const { db, dialect, query, execute } = session;
  const find: WebhookRows["find"] = async (reach, id) => webhookOf(await db.webhook.findFirst({ where: { id, ...within(reach) } }));
  return {
    async insert(webhook) {
      await db.webhook.create({ data: { ...webhook, eventTypes: JSON.stringify(webhook.eventTypes) } });
    },
    async list({ accountId, spaceId }) {
      const where = { accountId, spaceId, clientId: null, deletedAt: null };
      const rows = await db.webhook.findMany({ where, orderBy: [{ createdAt: "desc" }, { id: "desc" }] });
      return rows.flatMap((row) => webhookOf(row) ?? []);
    },
    find,
    async lock(reach, id) {
      changeOf(session);
      if (dialect === "postgresql") await query(sql`SELECT id FROM webhook WHERE id = ${id} FOR UPDATE`);
      return find(reach, id);
    },
    ofApp: async (clientId) => webhookOf(await db.webhook.findFirst({ where: { clientId, deletedAt: null } })),
    async idsOfApps(spaceId) {
      const rows = await db.webhook.findMany({
        where: { spaceId, clientId: { not: null }, deletedAt: null },
        select: { id: true, clientId: true },
      });
      return new Map(rows.map(({ id, clientId }) => [clientId ?? "", id]));
    },
    async update(id, { eventTypes, ...changes }) {
      const data = { ...changes, ...(eventTypes ? { eventTypes: JSON.stringify(eventTypes) } : {}) };
      await db.webhook.updateMany({ where: { id, deletedAt: null }, data });
    },
    async bury(id, now) {
      const blank = { secret: new Uint8Array(), oldSecret: null, oldSecretUntil: null };
      await db.webhook.updateMany({ where: { id, deletedAt: null }, data: { ...blank, status: "inactive", deletedAt: now } });
      await cancelPending(session, id, now);
    },
    purge: (before, max) =>
      execute(sql`DELETE FROM webhook WHERE id IN (SELECT id FROM webhook WHERE deleted_at < ${before} ORDER BY deleted_at LIMIT ${max})`),
  };
}

const within = ({ accountId, spaceId, ofApps }: WebhookReach) => ({
  spaceId,
  deletedAt: null,
  ...(ofApps ? { OR: [{ accountId }, { clientId: { not: null } }] } : { accountId }),
});

/** Status and types of event were written as such by this program. */
const webhookOf = (row: Rows.Webhook | null): Webhook | null =>
  row && {
    ...row,
    status: row.status as Webhook["status"],
    eventTypes: textsIn(row.eventTypes) as WebhookEventType[],
    oldSecretUntil: numberOrNull(row.oldSecretUntil),
    createdAt: numberOf(row.createdAt),
    failingSince: numberOrNull(row.failingSince),
    deletedAt: numberOrNull(row.deletedAt),
  };
