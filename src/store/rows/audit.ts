import type { AuditRows } from "../../core/audit/audit.ts";
import { type AuditChainRows, type ChainHead, genesis, removalOperation } from "../../core/audit/chain.ts";
import type { AuditFilter, AuditLogRows, AuditName, AuditPage } from "../../core/audit/log.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, direction, empty, inTexts, raw, type Sql, sql } from "../statements.ts";
import { computedShape, countRows, integer, tables, text } from "../table.ts";
import { displayName } from "./usage.ts";

const { auditEvent } = tables;
const ids = auditEvent.pick("id");

/** The audit log as rows. A change keeps its notes until it ends. */
export function auditRows(session: Session): AuditRows {
  return {
    note(note) {
      const change = changeOf(session);
      change.note = { ...change.note, ...note };
    },
    notes: () => session.change?.note ?? {},
    async insert(entry) {
      await session.write(
        auditEvent.insert({ ...entry, before: jsonOf(entry.before), after: jsonOf(entry.after) }),
      );
    },
    async addRefusals(refusals) {
      if (refusals.length === 0) return [];
      const rows = refusals.map((refusal) => ({ ...refusal, outcome: "refused" as const }));
      const written = await ids.rows(session)(sql`
        ${auditEvent.insertAll(rows)}
        ON CONFLICT (id) DO UPDATE SET count = audit_event.count + excluded.count WHERE audit_event.seq IS NULL
        RETURNING ${ids.of("audit_event")}`);
      return rows.map(({ id }) => id).filter((id) => !written.some((row) => row.id === id));
    },
  };
}

const jsonOf = (value: object | null): string | null => value && JSON.stringify(value);

export const auditLogRows = (session: Session): AuditLogRows => ({
  list: (spaceId, filter, page) =>
    auditEvent.rows(session.scans)(sql`
      SELECT ${auditEvent.of("audit_event")} FROM audit_event
      WHERE ${allOf([sql`space_id = ${spaceId}`, ...filterConditions(filter), ...beyond(page)])}
      ORDER BY at ${direction(page.order)}, id ${direction(page.order)} LIMIT ${page.limit}`),
  names(spaceId, mentioned) {
    const known = inTexts(session.dialect, mentioned);
    return named.rows(session)(sql`
      SELECT ${named.of("n")} FROM (
        SELECT 'account' AS kind, m.account_id AS id, MAX(${displayName}) AS name FROM membership m
          WHERE m.space_id = ${spaceId} AND m.account_id ${known} GROUP BY m.account_id
        UNION ALL SELECT 'key', k.id, k.name FROM api_key k WHERE k.space_id = ${spaceId} AND k.id ${known}
        UNION ALL SELECT 'app', a.client_id, a.name FROM oauth_app a
          WHERE a.space_id IN (${spaceId}, '') AND a.client_id ${known} AND a.deleted_at IS NULL
        UNION ALL SELECT 'project', p.id, p.name FROM project p
          WHERE p.space_id = ${spaceId} AND p.id ${known} AND p.deleted_at IS NULL) n
      WHERE n.name <> '' ORDER BY n.kind, n.id`);
  },
});

const named = computedShape({
  kind: text<AuditName["kind"]>(sql`n.kind`),
  id: text(sql`n.id`),
  name: text(sql`n.name`),
});

function filterConditions({
  from,
  before,
  accountId,
  credential,
  operation,
  operationPrefix,
  outcome,
  subject,
  requestId,
}: AuditFilter): Sql[] {
  return [
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(before === undefined ? [] : [sql`at < ${before}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(credential === undefined ? [] : [sql`credential = ${credential}`]),
    ...(operation === undefined ? [] : [sql`operation = ${operation}`]),
    ...(operationPrefix === undefined
      ? []
      : [sql`substr(operation, 1, ${raw(String(operationPrefix.length))}) = ${operationPrefix}`]),
    ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
    ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
    ...(requestId === undefined ? [] : [sql`request_id = ${requestId}`]),
  ];
}

function beyond({ after, order }: AuditPage): Sql[] {
  if (!after) return [];
  return [
    order === "asc" ? sql`(at, id) > (${after.at}, ${after.id})` : sql`(at, id) < (${after.at}, ${after.id})`,
  ];
}

const { auditHead } = tables;
/** The columns of an audit row before it is sealed. */
const unsealed = auditEvent.pick(
  "id",
  "at",
  "spaceId",
  "accountId",
  "credential",
  "operation",
  "requestId",
  "address",
  "subject",
  "before",
  "after",
  "outcome",
  "reason",
  "count",
);
/** A sealed row, with its position in the chain. */
const sealed = unsealed.with({ seq: integer(sql`seq`), hash: text(sql`hash`) });
const space = auditHead.pick("spaceId");
const end = auditHead.pick("seq", "hash");
const { auditAnchor } = tables;
const anchor = auditAnchor.pick("seq", "hash", "removedAt");
const removal = auditEvent.pick("id", "after");
const heads = sql`SELECT ${auditHead.of("audit_head")} FROM audit_head`;

/** Rows that can be sealed. A refusal is included once its count is final. */
const canSeal = (refusedBefore: number): Sql =>
  sql`seq IS NULL AND (outcome = 'done' OR at < ${refusedBefore})`;

export function auditChainRows(session: Session): AuditChainRows {
  const { execute, dialect } = session;
  return {
    async unsealedSpaces(after, refusedBefore, max) {
      // Skips from space to space in the index, so that the cost depends on spaces, not on rows.
      const next = (beyond: Sql) => sql`(
        SELECT space_id FROM audit_event WHERE ${canSeal(refusedBefore)} AND space_id > ${beyond} ORDER BY space_id LIMIT 1)`;
      const rows = await space.rows(session)(sql`
        WITH RECURSIVE waiting(space_id) AS (
          SELECT ${next(sql`${after}`)} UNION ALL
          SELECT ${next(sql`waiting.space_id`)} FROM waiting WHERE waiting.space_id IS NOT NULL)
        SELECT ${space.of("waiting")} FROM waiting WHERE space_id IS NOT NULL LIMIT ${max}`);
      return rows.map(({ spaceId }) => spaceId);
    },
    async makeHeads(spaceIds) {
      // Existing heads are skipped, because an insert would wait for a change that moves the head.
      const existing = await space.rows(session)(sql`
        SELECT ${space.of("audit_head")} FROM audit_head WHERE space_id ${inTexts(dialect, spaceIds)}`);
      const missing = spaceIds.filter((id) => !existing.some(({ spaceId }) => spaceId === id));
      if (missing.length === 0) return 0;
      const rows = missing.map((spaceId) => ({ spaceId, ...genesis }));
      return execute(sql`${auditHead.insertAll(rows)} ON CONFLICT DO NOTHING`);
    },
    async lockHeads(spaceIds) {
      changeOf(session);
      const rows = await auditHead.rows(session)(sql`
        ${heads} WHERE space_id ${inTexts(dialect, spaceIds)} ORDER BY space_id
        ${dialect === "sqlite" ? empty : sql`FOR UPDATE SKIP LOCKED`}`);
      return new Map(rows.map(({ spaceId, ...head }) => [spaceId, head]));
    },
    unsealed: (spaceId, refusedBefore, max) =>
      unsealed.rows(session)(sql`
        SELECT ${unsealed.of("audit_event")} FROM audit_event
        WHERE space_id = ${spaceId} AND ${canSeal(refusedBefore)} ORDER BY at, id LIMIT ${max}`),
    async seal(rows, heads) {
      const positions = rows.map(({ id, seq, hash }) => ({ id, seq, hash }));
      const count = await execute(sql`
        UPDATE audit_event SET seq = p.seq, hash = p.hash FROM ${positionsTable(dialect, positions)} WHERE audit_event.id = p.id AND audit_event.hash IS NULL`);
      const ends = [...heads].map(([id, head]) => ({ id, ...head }));
      const moved = await execute(sql`
        UPDATE audit_head SET seq = p.seq, hash = p.hash FROM ${positionsTable(dialect, ends)} WHERE audit_head.space_id = p.id`);
      // The heads' locks exclude other sealers, so a different count is an error and the change must be
      // rolled back.
      if (count !== rows.length || moved !== heads.size)
        throw new Error(`${count} of ${rows.length} audit rows were sealed`);
    },
    async spaces(after, max) {
      const rows = await space.rows(session)(sql`
        SELECT ${space.of("audit_head")} FROM audit_head WHERE space_id > ${after} ORDER BY space_id LIMIT ${max}`);
      return rows.map(({ spaceId }) => spaceId);
    },
    head: (spaceId) =>
      end.row(session)(sql`SELECT ${end.of("audit_head")} FROM audit_head WHERE space_id = ${spaceId}`),
    async sealed(spaceId, after, max) {
      const beyond = after === null ? empty : sql`AND (seq, id) > (${after.seq}, ${after.id})`;
      return sealed.rows(session.scans)(sql`
        SELECT ${sealed.of("audit_event")} FROM audit_event
        WHERE space_id = ${spaceId} AND seq IS NOT NULL ${beyond} ORDER BY seq, id LIMIT ${max}`);
    },
    countUnsealed: (spaceId) =>
      countRows(session.scans, sql`FROM audit_event WHERE space_id = ${spaceId} AND seq IS NULL`),
    anchor: (spaceId) =>
      anchor.row(session)(
        sql`SELECT ${anchor.of("audit_anchor")} FROM audit_anchor WHERE space_id = ${spaceId}`,
      ),
    lastRemoval: (spaceId) =>
      removal.row(session)(sql`
        SELECT ${removal.of("audit_event")} FROM audit_event
        WHERE space_id = ${spaceId} AND operation = ${removalOperation} ORDER BY at DESC, id DESC LIMIT 1`),
    async removeUpTo(spaceId, { seq, hash, removedAt }) {
      await execute(sql`
        ${auditAnchor.insert({ spaceId, seq, hash, removedAt })}
        ON CONFLICT (space_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, removed_at = excluded.removed_at`);
      return execute(sql`DELETE FROM audit_event WHERE space_id = ${spaceId} AND seq <= ${seq}`);
    },
  };
}

/** A table `p` of ids with their chain positions, in one parameter. */
function positionsTable(
  dialect: Session["dialect"],
  positions: readonly (ChainHead & { readonly id: string })[],
): Sql {
  const text = JSON.stringify(positions);
  return dialect === "sqlite"
    ? sql`(SELECT value ->> 'id' AS id, value ->> 'seq' AS seq, value ->> 'hash' AS hash FROM json_each(${text})) AS p`
    : sql`json_to_recordset(CAST(${text} AS json)) AS p(id text, seq integer, hash text)`;
}
