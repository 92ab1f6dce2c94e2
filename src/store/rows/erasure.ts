import type { ErasureRows, ErasureTarget } from "../../core/erasure/erasure.ts";
import { schema } from "../../gen/prisma/tables.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, join, raw, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, countRows, integer, tables, text, textOrNull } from "../table.ts";
import { blobRows } from "./blob.ts";
import { erasureRules } from "./erasure-rules.ts";

const { erasure, legalHold } = tables;
const person = computedShape({ accountId: text(sql`id`), email: text(sql`email`) });
const personSpace = computedShape({
  spaceId: text(sql`m.space_id`),
  team: textOrNull(sql`m.team`),
  isOwner: boolean(sql`m.is_owner`),
  others: integer(sql`m.others`),
});
const space = computedShape({ spaceId: text(sql`s.id`), name: text(sql`s.name`) });
const ids = computedShape({ id: text(sql`id`) });
const names = computedShape({ name: text(sql`name`) });

type Name = keyof typeof erasureRules;

/** The search index is a table that is not in the models. */
const tableOf = (name: Name): { readonly table: Sql; readonly hasBytes: boolean } =>
  name === "taskText"
    ? { table: raw("task_text"), hasBytes: false }
    : { table: raw(`"${schema[name].name}"`), hasBytes: "blobId" in schema[name].columns };

/** The condition of a table's rows to delete; null when the rows stay. */
function conditionOf(target: ErasureTarget, name: Name): Sql | null {
  const { person: ofPerson, space: ofSpace } = erasureRules[name];
  if (target.kind === "person") return typeof ofPerson === "string" ? null : ofPerson(target);
  return typeof ofSpace === "string" ? null : ofSpace(target);
}

const isName = (name: string): name is Name => name in erasureRules;
const allNames = Object.keys(erasureRules).filter(isName);

/** The list of erasures, legal holds, and the deletion of rows in batches. */
export function erasureRows(session: Session): ErasureRows {
  const { dialect, execute } = session;
  const present = sql`status <> 'removed'`;
  // Each finds rows by their place, without a scan.
  const among = (some: (rowId: Sql) => Sql): Sql =>
    dialect === "sqlite"
      ? sql`rowid IN (${some(raw("rowid"))})`
      : sql`ctid = ANY (ARRAY(${some(raw("ctid"))}))`;

  return {
    ...listRows(session),
    async findPerson(idOrEmail) {
      return person.row(session)(sql`
        SELECT ${person.of("a")} FROM account a WHERE a.id = ${idOrEmail} OR a.email = ${idOrEmail.toLowerCase()} LIMIT 1`);
    },
    spacesOf: (accountId) =>
      personSpace.rows(session)(sql`
        SELECT ${personSpace.of("m")} FROM (
          SELECT id AS space_id, NULL AS team, 1 = 1 AS is_owner, 0 AS others FROM space WHERE account_id = ${accountId}
          UNION ALL
          SELECT m.space_id, t.name, m.role = 'owner',
            (SELECT COUNT(*) FROM membership o WHERE o.team_id = m.team_id AND o.account_id <> m.account_id AND o.${present})
          FROM membership m JOIN team t ON t.id = m.team_id WHERE m.account_id = ${accountId} AND m.${present}) m`),
    async findSpace(id) {
      const found = await space.row(session)(sql`
        SELECT ${space.of("s")} FROM (
          SELECT s.id, COALESCE((SELECT name FROM team WHERE space_id = s.id), (SELECT email FROM account WHERE id = s.account_id), s.id) AS name
          FROM space s WHERE s.id = ${id}) s`);
      if (found === null) return null;
      const members = await ids.rows(session)(sql`
        SELECT ${ids.of("m")} FROM (
          SELECT account_id AS id FROM membership WHERE space_id = ${id} AND ${present}
          UNION SELECT account_id FROM space WHERE id = ${id} AND account_id IS NOT NULL) m`);
      return { ...found, accountIds: members.map((each) => each.id) };
    },
    async countOtherTeams(spaceIds) {
      const others = spaceIds.length === 0 ? empty : sql`WHERE space_id NOT IN (${join([...spaceIds])})`;
      return countRows(session, sql`FROM team t ${others}`);
    },
    async successorOf(spaceId) {
      const rank = sql`CASE role WHEN 'super_admin' THEN 0 WHEN 'admin' THEN 1 WHEN 'member' THEN 2 ELSE 3 END`;
      const row = await ids.row(session)(sql`
        SELECT ${ids.of("m")} FROM membership m WHERE space_id = ${spaceId} AND ${present} AND role <> 'owner'
        ORDER BY CASE WHEN status = 'active' AND delegated_to IS NULL THEN 0 ELSE 1 END, ${rank}, created_at, id LIMIT 1`);
      return row?.id ?? null;
    },
    async count(target) {
      const found: Record<string, number> = {};
      for (const name of allNames) {
        const condition = conditionOf(target, name);
        if (condition === null) continue;
        const count = await countRows(session, sql`FROM ${tableOf(name).table} t WHERE ${condition}`);
        if (count > 0) found[name] = count;
      }
      return found;
    },
    listTables: () => allNames,
    async deleteSome(target, name, max) {
      changeOf(session);
      const condition = isName(name) ? conditionOf(target, name) : null;
      if (condition === null || !isName(name)) return 0;
      const { table, hasBytes } = tableOf(name);
      const some = among((rowId) => sql`SELECT ${rowId} FROM ${table} WHERE ${condition} LIMIT ${max}`);
      const statement = sql`DELETE FROM ${table} WHERE ${some}`;
      if (!hasBytes) return execute(statement);
      const deleted = await textOrNullRows(session, sql`${statement} RETURNING blob_id AS id`);
      await blobRows(session).drop(deleted.filter((id) => id !== null));
      return deleted.length;
    },
    async clearTexts(target) {
      changeOf(session);
      if (target.kind === "space") return;
      const { accountId } = target;
      await execute(sql`UPDATE export SET reason = '' WHERE requested_by = ${accountId} AND reason <> ''`);
      // An upload in progress: its writer finds that it must stop.
      await execute(
        sql`UPDATE blob SET state = 'dropped', lease_until = 0 WHERE account_id = ${accountId} AND state <> 'dropped'`,
      );
    },
    async droppedBytes() {
      return (await ids.rows(session)(sql`SELECT ${ids.of("b")} FROM blob b WHERE state = 'dropped'`)).map(
        ({ id }) => id,
      );
    },
  };
}

const nullableIds = computedShape({ id: textOrNull(sql`id`) });
const textOrNullRows = async (session: Session, statement: Sql): Promise<(string | null)[]> =>
  (await nullableIds.rows(session)(statement)).map(({ id }) => id);

function listRows(session: Session) {
  const { execute } = session;
  const erasures = erasure.rows(session);
  const holds = legalHold.rows(session);
  return {
    begin: async (erased, now) =>
      (await execute(sql`${erasure.insert({ ...erased, createdAt: now })} ON CONFLICT DO NOTHING`)) === 1,
    listOpen: () =>
      erasures(
        sql`SELECT ${erasure.of("e")} FROM erasure e WHERE completed_at IS NULL ORDER BY created_at, kind DESC, subject`,
      ),
    list: (max) =>
      erasures(
        sql`SELECT ${erasure.of("e")} FROM erasure e ORDER BY created_at DESC, kind, subject LIMIT ${max}`,
      ),
    async complete({ kind, subject }, now) {
      await execute(
        sql`UPDATE erasure SET completed_at = ${now} WHERE kind = ${kind} AND subject = ${subject} AND completed_at IS NULL`,
      );
    },
    addHold: async (hold) => (await execute(sql`${legalHold.insert(hold)} ON CONFLICT DO NOTHING`)) === 1,
    removeHold: async (name) => (await execute(sql`DELETE FROM legal_hold WHERE name = ${name}`)) === 1,
    listHolds: () => holds(sql`SELECT ${legalHold.of("h")} FROM legal_hold h ORDER BY name`),
    async holdsOn({ kind, subject }) {
      const related =
        kind === "person"
          ? sql`(kind = 'space' AND subject IN (
              SELECT space_id FROM membership WHERE account_id = ${subject} UNION SELECT id FROM space WHERE account_id = ${subject}))`
          : sql`(kind = 'person' AND subject IN (
              SELECT account_id FROM membership WHERE space_id = ${subject} UNION SELECT account_id FROM space WHERE id = ${subject}))`;
      const found = await names.rows(session)(sql`
        SELECT ${names.of("h")} FROM legal_hold h WHERE (kind = ${kind} AND subject = ${subject}) OR ${related} ORDER BY name`);
      return found.map(({ name }) => name);
    },
  } satisfies Partial<ErasureRows>;
}
