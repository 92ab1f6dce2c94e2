import type { ReplayKey, ReplayRows } from "../../core/replay/replay.ts";
import type { Session } from "../session.ts";
import { all, assignments, bytesOrNull, insertInto, type Sql, sql } from "../sql.ts";

interface RecordRow {
  readonly hash: string;
  readonly answer: Uint8Array | null;
  readonly subject: string | null;
}

/**
 * Idempotency records as rows. The claim is an insert that yields to a row that is
 * there: PostgreSQL waits for the change that wrote it, SQLite has one change at a
 * time. A caught unique violation would leave PostgreSQL's transaction dead instead.
 */
export function replayRows({ query, execute }: Session): ReplayRows {
  return {
    async claim(key, hash, now) {
      const insert = insertInto("idempotency_record", [{ ...columnsOf(key), hash, claimed_at: now }]);
      return (await execute(sql`${insert} ON CONFLICT DO NOTHING`)) === 1;
    },
    async find(key) {
      const [row] = await query<RecordRow>(sql`
        SELECT hash, answer, subject FROM idempotency_record WHERE ${matches(key)}`);
      return row ? { ...row, answer: bytesOrNull(row.answer) } : null;
    },
    async complete(key, answer, subject) {
      await execute(sql`
        UPDATE idempotency_record SET answer = ${answer}, subject = ${subject} WHERE ${matches(key)}`);
    },
    async forget(subject) {
      await execute(sql`DELETE FROM idempotency_record WHERE subject = ${subject}`);
    },
    purge: (before) => execute(sql`DELETE FROM idempotency_record WHERE claimed_at < ${before}`),
  };
}

const columnsOf = ({ accountId, spaceId, clientId, operation, key }: ReplayKey) => ({
  account_id: accountId,
  space_id: spaceId,
  client_id: clientId,
  operation,
  key,
});

const matches = (key: ReplayKey): Sql => all(assignments(columnsOf(key)));
