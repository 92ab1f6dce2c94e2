import type { AuditChainRows, AuditOutcome, AuditRow, ChainHead, SealedRow } from "../../core/audit/chain.ts";
import { genesis } from "../../core/audit/chain.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, join, memberOf, numberOf, type Sql, sql, type Whole } from "../sql.ts";

/** A row as the database has it. */
export interface AuditEventRow {
  readonly id: string;
  readonly at: Whole;
  readonly space_id: string;
  readonly account_id: string;
  readonly credential: string;
  readonly operation: string;
  readonly request_id: string;
  readonly address: string;
  readonly subject: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: Whole;
}

interface SealedEventRow extends AuditEventRow {
  readonly seq: Whole;
  readonly hash: string;
}

interface HeadRow {
  readonly space_id: string;
  readonly seq: Whole;
  readonly hash: string;
}

/** What a row of the log consists of, before it is sealed. */
export const auditColumns = sql`
  id, at, space_id, account_id, credential, operation, request_id, address, subject, before, after, outcome, reason, count`;

/** Of refusals, those that nobody counts any more. */
const ready = (refusedBefore: number): Sql => sql`seq IS NULL AND (outcome = 'done' OR at < ${refusedBefore})`;

/** The chains of the audit log as rows. */
export function auditChainRows(session: Session): AuditChainRows {
  const { query, execute, dialect } = session;
  return {
    async unsealedSpaces(after, refusedBefore, max) {
      // From space to space in the index, so that it costs steps by space, not by row.
      const next = (beyond: Sql) => sql`(
        SELECT space_id FROM audit_event WHERE ${ready(refusedBefore)} AND space_id > ${beyond} ORDER BY space_id LIMIT 1)`;
      const rows = await query<{ readonly space_id: string }>(sql`
        WITH RECURSIVE waiting(space_id) AS (
          SELECT ${next(sql`${after}`)} UNION ALL
          SELECT ${next(sql`waiting.space_id`)} FROM waiting WHERE waiting.space_id IS NOT NULL)
        SELECT space_id FROM waiting WHERE space_id IS NOT NULL LIMIT ${max}`);
      return rows.map(({ space_id }) => space_id);
    },
    async makeHeads(spaceIds) {
      // Heads that are there are left alone: whoever inserts one waits for whoever moves it.
      const there = await query<HeadRow>(sql`SELECT space_id, seq, hash FROM audit_head WHERE space_id ${memberOf(dialect, spaceIds)}`);
      const missing = spaceIds.filter((id) => !there.some(({ space_id }) => space_id === id));
      if (missing.length === 0) return 0;
      const rows = missing.map((id) => sql`(${id}, ${genesis.seq}, ${genesis.hash})`);
      return execute(sql`INSERT INTO audit_head (space_id, seq, hash) VALUES ${join(rows)} ON CONFLICT DO NOTHING`);
    },
    async lockHeads(spaceIds) {
      changeOf(session);
      const rows = await query<HeadRow>(sql`
        SELECT space_id, seq, hash FROM audit_head WHERE space_id ${memberOf(dialect, spaceIds)} ORDER BY space_id
        ${dialect === "sqlite" ? empty : sql`FOR UPDATE SKIP LOCKED`}`);
      return new Map(rows.map((row) => [row.space_id, headOf(row)]));
    },
    async unsealed(spaceId, refusedBefore, max) {
      const rows = await query<AuditEventRow>(sql`
        SELECT ${auditColumns} FROM audit_event WHERE space_id = ${spaceId} AND ${ready(refusedBefore)} ORDER BY at, id LIMIT ${max}`);
      return rows.map(auditRowOf);
    },
    async seal(rows, heads) {
      const places = rows.map(({ id, seq, hash }) => ({ id, seq, hash }));
      const count = await execute(sql`
        UPDATE audit_event SET seq = p.seq, hash = p.hash FROM ${placesIn(dialect, places)} WHERE audit_event.id = p.id AND audit_event.hash IS NULL`);
      const ends = [...heads].map(([id, head]) => ({ id, ...head }));
      const moved = await execute(sql`
        UPDATE audit_head SET seq = p.seq, hash = p.hash FROM ${placesIn(dialect, ends)} WHERE audit_head.space_id = p.id`);
      // Under the heads' locks nobody else seals these: then the change must not stand.
      if (count !== rows.length || moved !== heads.size) throw new Error(`${count} of ${rows.length} audit rows were sealed`);
    },
    async spaces(after, max) {
      const rows = await query<HeadRow>(
        sql`SELECT space_id, seq, hash FROM audit_head WHERE space_id > ${after} ORDER BY space_id LIMIT ${max}`,
      );
      return rows.map(({ space_id }) => space_id);
    },
    async head(spaceId) {
      const [row] = await query<HeadRow>(sql`SELECT space_id, seq, hash FROM audit_head WHERE space_id = ${spaceId}`);
      return row ? headOf(row) : null;
    },
    async sealed(spaceId, after, max) {
      const beyond = after === null ? empty : sql`AND (seq, id) > (${after.seq}, ${after.id})`;
      const rows = await query<SealedEventRow>(sql`
        SELECT ${auditColumns}, seq, hash FROM audit_event
        WHERE space_id = ${spaceId} AND seq IS NOT NULL ${beyond} ORDER BY seq, id LIMIT ${max}`);
      return rows.map((row): SealedRow => ({ ...auditRowOf(row), seq: numberOf(row.seq), hash: row.hash }));
    },
    async countUnsealed(spaceId) {
      const [row] = await query<{ readonly n: Whole }>(
        sql`SELECT COUNT(*) AS n FROM audit_event WHERE space_id = ${spaceId} AND seq IS NULL`,
      );
      return numberOf(row?.n ?? 0);
    },
  };
}

/** A table `p` of ids with their places, in one parameter. */
function placesIn(dialect: Session["dialect"], places: readonly (ChainHead & { readonly id: string })[]): Sql {
  const text = JSON.stringify(places);
  return dialect === "sqlite"
    ? sql`(SELECT value ->> 'id' AS id, value ->> 'seq' AS seq, value ->> 'hash' AS hash FROM json_each(${text})) AS p`
    : sql`json_to_recordset(CAST(${text} AS json)) AS p(id text, seq integer, hash text)`;
}

const headOf = ({ seq, hash }: HeadRow): ChainHead => ({ seq: numberOf(seq), hash });

/** A row of the log; its outcome was written as such by this program. */
export const auditRowOf = (row: AuditEventRow): AuditRow => ({
  id: row.id,
  at: numberOf(row.at),
  spaceId: row.space_id,
  accountId: row.account_id,
  credential: row.credential,
  operation: row.operation,
  requestId: row.request_id,
  address: row.address,
  subject: row.subject,
  before: row.before,
  after: row.after,
  outcome: row.outcome as AuditOutcome,
  reason: row.reason,
  count: numberOf(row.count),
});
