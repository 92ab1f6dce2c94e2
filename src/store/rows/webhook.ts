import type { WebhookKeyRows, WebhookRows } from "../../core/webhooks/webhook.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, forUpdate, join, type Sql, sql } from "../statements.ts";
import { tables, text, textOrNull } from "../table.ts";
import { cancelPending, inReach } from "./delivery-log.ts";

/** The key pairs that sign deliveries, as rows. */
export function webhookKeyRows(session: Session): WebhookKeyRows {
  const { db, execute } = session;
  return {
    list: async () => {
      const rows = await (await db()).webhookKey.findMany({ orderBy: { number: "asc" } });
      return rows.map(tables.webhookKey.fromClient);
    },
    async insert(key) {
      changeOf(session);
      return (await execute(sql`${tables.webhookKey.insert(key)} ON CONFLICT DO NOTHING`)) === 1;
    },
    async retire(algorithm, at) {
      await (await db()).webhookKey.updateMany({
        where: { algorithm, retiresAt: null },
        data: { retiresAt: at },
      });
    },
    async remove(algorithm) {
      await (await db()).webhookKey.deleteMany({ where: { algorithm } });
    },
    // A statement, because maintenance runs it at the start, which must not load the client.
    purge: (before) => execute(sql`DELETE FROM webhook_key WHERE retires_at < ${before}`),
  };
}

const { webhook } = tables;
/** The id of an app's webhook. */
const ofApp = webhook.pick("id").with({ clientId: text(sql`t.client_id`) });

const heldWebhook = webhook.with({
  email: textOrNull(sql`(SELECT email FROM account WHERE id = t.account_id)`),
});

export function webhookRows(session: Session): WebhookRows {
  const { dialect, execute } = session;
  return {
    async insert(row) {
      await execute(webhook.insert(row));
    },
    list: ({ accountId, spaceId }) =>
      webhook.rows(session)(sql`
        ${active(sql`account_id = ${accountId} AND space_id = ${spaceId} AND client_id IS NULL`)} ORDER BY created_at DESC, id DESC`),
    listOfSpace: (spaceId, { limit, after }) =>
      heldWebhook.rows(session)(sql`
        SELECT ${heldWebhook.of("t")} FROM webhook t WHERE ${allOf([
          sql`t.space_id = ${spaceId} AND t.client_id IS NULL AND t.deleted_at IS NULL`,
          ...(after === undefined ? [] : [sql`(t.created_at, t.id) < (${after.createdAt}, ${after.id})`]),
        ])} ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`),
    find: (reach, id) => webhook.row(session)(active(sql`id = ${id} AND ${inReach(reach)}`)),
    async lock(reach, id) {
      changeOf(session);
      return webhook.row(session)(
        sql`${active(sql`id = ${id} AND ${inReach(reach)}`)} ${forUpdate(dialect, "t")}`,
      );
    },
    findOfApp: (clientId) => webhook.row(session)(active(sql`client_id = ${clientId}`)),
    async listIdsOfApps(spaceId) {
      const rows = await ofApp.rows(session)(sql`
        SELECT ${ofApp.of("t")} FROM webhook t WHERE space_id = ${spaceId} AND client_id IS NOT NULL AND deleted_at IS NULL`);
      return new Map(rows.map(({ id, clientId }) => [clientId, id]));
    },
    async update(id, changes) {
      const set = webhook.set(changes);
      if (set.length > 0)
        await execute(sql`UPDATE webhook SET ${join(set)} WHERE id = ${id} AND deleted_at IS NULL`);
    },
    async tombstone(id, now) {
      const blank = webhook.set({
        secret: new Uint8Array(),
        oldSecret: null,
        oldSecretUntil: null,
        status: "inactive",
        deletedAt: now,
      });
      await execute(sql`UPDATE webhook SET ${join(blank)} WHERE id = ${id} AND deleted_at IS NULL`);
      await cancelPending(session, id, now);
    },
    purge: (before, max) =>
      execute(
        sql`DELETE FROM webhook WHERE id IN (SELECT id FROM webhook WHERE deleted_at < ${before} ORDER BY deleted_at LIMIT ${max})`,
      ),
  };
}

const active = (condition: Sql): Sql =>
  sql`SELECT ${webhook.of("t")} FROM webhook t WHERE ${condition} AND deleted_at IS NULL`;
