import { type ListenerRows, listenerLeaseMs, waitingMax } from "../../core/webhooks/listener.ts";
import { changeOf, type Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { countRows, integer, tables } from "../table.ts";

const { webhookListener, listenerEvent } = tables;
const ids = webhookListener.pick("id");
const state = webhookListener.pick("waiting", "dropped");
const accepted = webhookListener.pick("accepted");
const waiting = tables.webhookEvent.pick("id", "type", "body").with({ position: integer(sql`l.position`) });

/** Listeners and the events that wait for them, as rows. Lock order of several listeners: by id. */
export function listenerRows(session: Session): ListenerRows {
  const { execute } = session;

  async function put(listenerId: string, eventId: string): Promise<void> {
    // The lock of the listener's row makes its limit and its order exact.
    const row = await accepted.row(session)(sql`
      UPDATE webhook_listener SET accepted = accepted + 1, waiting = waiting + 1
      WHERE id = ${listenerId} AND waiting < ${waitingMax} RETURNING ${accepted.of("webhook_listener")}`);
    if (row) await execute(listenerEvent.insert({ listenerId, position: row.accepted, eventId }));
    else await execute(sql`UPDATE webhook_listener SET dropped = dropped + 1 WHERE id = ${listenerId}`);
  }

  async function remove(id: string): Promise<void> {
    await execute(sql`DELETE FROM webhook_listener WHERE id = ${id}`);
    await execute(sql`DELETE FROM listener_event WHERE listener_id = ${id}`);
  }

  return {
    async insert(listener) {
      await execute(webhookListener.insert(listener));
    },
    count: (accountId, now) =>
      countRows(session, sql`FROM webhook_listener WHERE account_id = ${accountId} AND NOT (${isOver(now)})`),
    state: (id) =>
      state.row(session)(sql`SELECT ${state.of("webhook_listener")} FROM webhook_listener WHERE id = ${id}`),
    async renew(id, now) {
      return (await execute(sql`UPDATE webhook_listener SET renewed_at = ${now} WHERE id = ${id}`)) === 1;
    },
    async put(events) {
      const inOrder = events.toSorted((a, b) =>
        a.listenerId < b.listenerId ? -1 : a.listenerId > b.listenerId ? 1 : 0,
      );
      for (const { listenerId, eventId } of inOrder) await put(listenerId, eventId);
    },
    listWaiting: (id, max) =>
      waiting.rows(session)(sql`
        SELECT ${waiting.of("e")} FROM listener_event l JOIN webhook_event e ON e.id = l.event_id
        WHERE l.listener_id = ${id} ORDER BY l.position LIMIT ${max}`),
    async settle(id, position) {
      // The listener's row first, as everywhere.
      await execute(sql`
        UPDATE webhook_listener SET waiting = waiting - (
          SELECT COUNT(*) FROM listener_event WHERE listener_id = ${id} AND position <= ${position}) WHERE id = ${id}`);
      await execute(sql`DELETE FROM listener_event WHERE listener_id = ${id} AND position <= ${position}`);
    },
    remove,
    async purge(now) {
      changeOf(session);
      const rows = await ids.rows(session)(sql`
        SELECT ${ids.of("webhook_listener")} FROM webhook_listener WHERE ${isOver(now)} ORDER BY id LIMIT ${purgeMax}`);
      for (const { id } of rows) await remove(id);
    },
  };
}

/** Listeners that are removed in one change. */
const purgeMax = 100;

/** The hour is over, or the process that held the stream is dead. */
const isOver = (now: number): Sql => sql`expires_at <= ${now} OR renewed_at <= ${now - listenerLeaseMs}`;
