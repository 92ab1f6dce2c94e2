import type { DuePush, PushConfigRows, PushKey } from "../../core/push/push-config.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, join, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, tables, text } from "../table.ts";

const { pushConfig } = tables;
const taskIds = computedShape({ taskId: text(sql`task_id`) });

/** An app receives while it and its user's grant exist, or it acts as itself; a person while the membership, where there is one, is active. */
const mayReceive = sql`CASE WHEN t.id IS NOT NULL AND t.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.account_id = p.account_id AND m.space_id = p.space_id AND m.status <> 'active')
  AND (p.client_id = '' OR EXISTS (SELECT 1 FROM oauth_app a WHERE a.client_id = p.client_id AND a.deleted_at IS NULL
    AND (a.service_account_id = p.account_id OR EXISTS (SELECT 1 FROM oauth_grant g
      WHERE g.client_id = p.client_id AND g.account_id = p.account_id AND g.space_id = p.space_id AND g.revoked_at IS NULL))))
  THEN 1 ELSE 0 END`;
const due = pushConfig.with({ mayReceive: boolean(mayReceive) });

const isKey = ({ taskId, clientId, configId }: PushKey): Sql =>
  sql`task_id = ${taskId} AND client_id = ${clientId} AND config_id = ${configId}`;
const isClaimed = (key: PushKey, claim: string): Sql => sql`${isKey(key)} AND claim = ${claim} AND state = 'active'`;
const isGone = sql`(t.deleted_at IS NOT NULL OR t.id IS NULL)`;
const isOver = sql`t.status IN ('stopped', 'error')`;

/** Configurations of push notifications as rows. */
export function pushConfigRows(session: Session): PushConfigRows {
  const { execute } = session;
  async function writes(statement: Sql): Promise<boolean> {
    changeOf(session);
    return (await execute(statement)) === 1;
  }

  return {
    ofTask: (taskId) =>
      pushConfig.rows(session)(sql`
        SELECT ${pushConfig.of("push_config")} FROM push_config WHERE task_id = ${taskId} ORDER BY created_at, config_id`),
    async put(config) {
      changeOf(session);
      await execute(sql`
        ${pushConfig.insert(config)} ON CONFLICT (task_id, client_id, config_id) DO UPDATE SET
          url = excluded.url, secrets = excluded.secrets, has_events = excluded.has_events, state = 'active',
          sent_seq = CASE WHEN push_config.state = 'ended' THEN excluded.sent_seq ELSE push_config.sent_seq END,
          attempts = 0, next_at = excluded.next_at, claim = NULL, last_error = NULL`);
    },
    async remove(key) {
      changeOf(session);
      await execute(sql`DELETE FROM push_config WHERE ${isKey(key)}`);
    },
    async tasks(max) {
      const rows = await taskIds.rows(session)(
        sql`SELECT DISTINCT ${taskIds.of("push_config")} FROM push_config WHERE state = 'active' LIMIT ${max}`,
      );
      return rows.map(({ taskId }) => taskId);
    },
    due(now, { max, full }, tasks) {
      const conditions = [
        sql`p.state = 'active' AND (p.next_at <= ${now} AND (p.sent_seq < t.last_seq OR ${isOver}) OR ${isGone})`,
        ...(full.length === 0 ? [] : [sql`p.account_id NOT IN (${join([...full])})`]),
        ...(tasks === null ? [] : [sql`p.task_id IN (${join([...tasks])})`]),
      ];
      return due.rows(session)(sql`
        SELECT ${due.of("p")} FROM push_config p LEFT JOIN task t ON t.id = p.task_id
        WHERE ${allOf(conditions)} ORDER BY p.next_at, p.task_id, p.config_id LIMIT ${max}`) as Promise<readonly DuePush[]>;
    },
    take(key, claim, now, until) {
      changeOf(session);
      return pushConfig.row(session)(sql`
        UPDATE push_config SET claim = ${claim}, next_at = ${until} WHERE ${isKey(key)} AND state = 'active' AND next_at <= ${now}
        RETURNING ${pushConfig.of("push_config")}`);
    },
    advance: (key, claim, sentSeq, until) =>
      writes(sql`
        UPDATE push_config SET sent_seq = ${sentSeq}, attempts = 0, last_error = NULL, next_at = ${until} WHERE ${isClaimed(key, claim)}
          AND EXISTS (SELECT 1 FROM task t WHERE t.id = push_config.task_id AND t.deleted_at IS NULL)`),
    release: (key, claim, { state, sentSeq, attempts, nextAt, lastError }) =>
      writes(sql`
        UPDATE push_config SET state = ${state}, sent_seq = ${sentSeq}, attempts = ${attempts}, next_at = ${nextAt}, last_error = ${lastError},
          claim = NULL, secrets = CASE WHEN ${state} = 'active' THEN secrets END WHERE ${isClaimed(key, claim)}`),
    async endOrRelease(key, claim, sentSeq, now) {
      changeOf(session);
      const isEnd = sql`(SELECT t.last_seq = ${sentSeq} AND ${isOver} FROM task t WHERE t.id = push_config.task_id AND t.deleted_at IS NULL)`;
      await execute(sql`
        UPDATE push_config SET sent_seq = ${sentSeq}, next_at = ${now}, claim = NULL, state = CASE WHEN ${isEnd} THEN 'ended' ELSE 'active' END,
          secrets = CASE WHEN ${isEnd} THEN NULL ELSE secrets END WHERE ${isClaimed(key, claim)}`);
    },
    async purge(max) {
      changeOf(session);
      return execute(sql`
        DELETE FROM push_config WHERE task_id IN (SELECT p.task_id FROM push_config p LEFT JOIN task t ON t.id = p.task_id
          WHERE ${isGone} ORDER BY p.task_id LIMIT ${max})`);
    },
  };
}
