import { type PushConfigRows, type PushKey, pushScopes } from "../../core/push/push-config.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, join, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, integer, tables, text } from "../table.ts";

const { pushConfig } = tables;
const taskIds = computedShape({ taskId: text(sql`task_id`) });
const allowed = computedShape({ one: integer(sql`1`) });

/** The app exists and has its user's grant, or acts as itself. */
const appMayReceive = sql`EXISTS (SELECT 1 FROM oauth_app a WHERE a.client_id = p.client_id AND a.deleted_at IS NULL
  AND (a.service_account_id = p.account_id OR EXISTS (SELECT 1 FROM oauth_grant g
    WHERE g.client_id = p.client_id AND g.account_id = p.account_id AND g.space_id = p.space_id AND g.revoked_at IS NULL)))`;
/** The key could create the configuration now. Ids of projects have no character with a meaning for LIKE. */
const keyMayReceive = (
  now: number,
): Sql => sql`EXISTS (SELECT 1 FROM api_key k WHERE k.id = p.api_key_id AND k.account_id = p.account_id
  AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})
  AND (k.scopes IS NULL OR ${allOf(pushScopes.map((scope) => sql`k.scopes LIKE ${`%"${scope}"%`}`))})
  AND (k.project_ids IS NULL OR k.project_ids LIKE '%"' || t.project_id || '"%'))`;
/** The key is not known: it may be any that the account has revoked since. */
const noKeyWasRevoked = sql`NOT EXISTS (SELECT 1 FROM api_key k
  WHERE k.account_id = p.account_id AND k.space_id = p.space_id AND k.revoked_at >= p.created_at)`;
/** The task exists, the membership is active where there is one, and the app or the key may receive it. */
const mayReceive = (now: number): Sql => sql`t.id IS NOT NULL AND t.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.account_id = p.account_id AND m.space_id = p.space_id AND m.status <> 'active')
  AND CASE WHEN p.client_id <> '' THEN ${appMayReceive} WHEN p.api_key_id IS NULL THEN ${noKeyWasRevoked} ELSE ${keyMayReceive(now)} END`;
const isGone = sql`(t.deleted_at IS NOT NULL OR t.id IS NULL)`;
const lost = pushConfig.with({ isTaskGone: boolean(sql`CASE WHEN ${isGone} THEN 1 ELSE 0 END`) });
const ofTasks = (tasks: readonly string[] | null): Sql[] =>
  tasks === null ? [] : [sql`p.task_id IN (${join([...tasks])})`];

const isKey = ({ taskId, clientId, configId }: PushKey): Sql =>
  sql`task_id = ${taskId} AND client_id = ${clientId} AND config_id = ${configId}`;
const isClaimed = (key: PushKey, claim: string): Sql =>
  sql`${isKey(key)} AND claim = ${claim} AND state = 'active'`;
const isOver = sql`t.status IN ('stopped', 'error')`;

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
          attempts = 0, next_at = excluded.next_at, claim = NULL, last_error = NULL, api_key_id = excluded.api_key_id`);
    },
    ofAccount: ({ accountId, spaceId }, max) =>
      pushConfig.rows(session)(sql`
        SELECT ${pushConfig.of("push_config")} FROM push_config WHERE account_id = ${accountId} AND space_id = ${spaceId}
        ORDER BY created_at DESC, task_id, client_id, config_id LIMIT ${max}`),
    remove: (key) => writes(sql`DELETE FROM push_config WHERE ${isKey(key)}`),
    async tasks(max) {
      const rows = await taskIds.rows(session)(
        sql`SELECT DISTINCT ${taskIds.of("push_config")} FROM push_config WHERE state = 'active' LIMIT ${max}`,
      );
      return rows.map(({ taskId }) => taskId);
    },
    due(now, { max, full }, tasks) {
      const conditions = [
        sql`p.state = 'active' AND p.next_at <= ${now} AND (p.sent_seq < t.last_seq OR ${isOver}) AND ${mayReceive(now)}`,
        ...(full.length === 0 ? [] : [sql`p.account_id NOT IN (${join([...full])})`]),
        ...ofTasks(tasks),
      ];
      return pushConfig.rows(session)(sql`
        SELECT ${pushConfig.of("p")} FROM push_config p JOIN task t ON t.id = p.task_id
        WHERE ${allOf(conditions)} ORDER BY p.next_at, p.task_id, p.config_id LIMIT ${max}`);
    },
    lost: (now, max, tasks) =>
      lost.rows(session)(sql`
        SELECT ${lost.of("p")} FROM push_config p LEFT JOIN task t ON t.id = p.task_id
        WHERE ${allOf([sql`p.state = 'active' AND NOT (${mayReceive(now)})`, ...ofTasks(tasks)])} LIMIT ${max}`),
    async maySend({ taskId, clientId, configId }, now) {
      const row = await allowed.row(session)(sql`
        SELECT ${allowed.of("p")} FROM push_config p JOIN task t ON t.id = p.task_id
        WHERE p.task_id = ${taskId} AND p.client_id = ${clientId} AND p.config_id = ${configId} AND ${mayReceive(now)}`);
      return row !== null;
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
