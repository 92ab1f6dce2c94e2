import type { IdempotencyKey, IdempotencyRows } from "../../core/idempotency/idempotency-record.ts";
import type { Session } from "../session.ts";
import { allOf, type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { idempotencyRecord } = tables;
const answerShape = idempotencyRecord.pick("hash", "answer", "subject");

/**
 * Idempotency records as rows. The claim is an insert that does nothing if the row
 * exists: PostgreSQL waits for the change that wrote it, and SQLite runs one change at
 * a time. A unique violation would instead abort PostgreSQL's transaction.
 */
export function idempotencyRows(session: Session): IdempotencyRows {
  const { execute, write } = session;
  return {
    async claim(key, hash, now) {
      const row = { ...key, hash, claimedAt: now };
      return (await execute(sql`${idempotencyRecord.insert(row)} ON CONFLICT DO NOTHING`)) === 1;
    },
    find: (key) =>
      answerShape.row(session)(sql`
        SELECT ${answerShape.of("idempotency_record")} FROM idempotency_record WHERE ${matches(key)}`),
    async complete(key, answer, subject) {
      await write(sql`
        UPDATE idempotency_record SET answer = ${answer}, subject = ${subject} WHERE ${matches(key)}`);
    },
    async deleteOf(subject) {
      await execute(sql`DELETE FROM idempotency_record WHERE subject = ${subject}`);
    },
    purge: (before) => execute(sql`DELETE FROM idempotency_record WHERE claimed_at < ${before}`),
  };
}

const matches = ({ accountId, spaceId, clientId, operation, key }: IdempotencyKey): Sql =>
  allOf(idempotencyRecord.set({ accountId, spaceId, clientId, operation, key }));
