import type { Skill, SkillChooser, SkillOwnerType, SkillPlace, SkillRows, SkillShelf, SkillView } from "../../core/skills/skill.ts";
import type { Dialect, Session } from "../session.ts";
import { all, forUpdate, insertInto, memberOf, numberOf, type Sql, sql, type Truth, truthOf, type Whole } from "../sql.ts";

/** A skill's row as `skillsFrom` reads it. */
export interface SkillRow {
  readonly id: string;
  readonly owner_type: string;
  readonly space_id: string | null;
  readonly account_id: string | null;
  readonly project_id: string | null;
  readonly client_id: string | null;
  readonly name: string;
  readonly description: string;
  readonly enabled: Truth;
  readonly blob_id: string;
  readonly bytes: Whole;
  readonly sha256: string;
  readonly created_at: Whole;
  readonly updated_at: Whole;
  readonly creator_name: string | null;
  /** Null where nobody has chosen. */
  readonly chosen: Truth | null;
}

/** A team sees the name that it has given, or else the account's once that person has signed in to it (contract/decisions.md 5). */
const creatorName = sql`
  CASE WHEN m.id IS NULL THEN a.name ELSE COALESCE(m.name, CASE WHEN m.signed_in_at IS NOT NULL THEN a.name END) END AS creator_name`;
const creator = sql`LEFT JOIN account a ON a.id = s.account_id LEFT JOIN membership m ON m.id = (
  SELECT l.id FROM membership l WHERE l.space_id = s.space_id AND l.account_id = s.account_id ORDER BY l.created_at DESC, l.id DESC LIMIT 1)`;

/** Skills, deleted ones too, as `skillOf` takes them; none is as somebody has chosen. */
export const skillsFrom = sql`SELECT s.*, ${creatorName}, NULL AS chosen FROM skill s ${creator}`;
const skillsFor = ({ accountId, spaceId }: SkillChooser): Sql => sql`
  SELECT s.*, ${creatorName}, c.enabled AS chosen FROM skill s ${creator}
    LEFT JOIN skill_choice c ON c.skill_id = s.id AND c.account_id = ${accountId} AND c.space_id = ${spaceId}`;
const newestFirst = sql`ORDER BY s.created_at DESC, s.id DESC`;

/** Skills as rows. */
export function skillRows({ query, execute, dialect }: Session): SkillRows {
  const list = async (where: Sql, from: Sql = skillsFrom): Promise<readonly SkillView[]> =>
    (await query<SkillRow>(sql`${from} WHERE s.deleted_at IS NULL AND ${where} ${newestFirst}`)).map(skillOf);
  return {
    async insert(skill) {
      await execute(insertInto("skill", [columnsOf(skill)]));
    },
    byId: async (id) => (await list(sql`s.id = ${id}`))[0] ?? null,
    async all(max) {
      const rows = await query<SkillRow>(sql`${skillsFrom} WHERE s.deleted_at IS NULL ${newestFirst} LIMIT ${max}`);
      return rows.map(skillOf);
    },
    visible: (place) => list(visibleFrom(dialect, place), skillsFor(place)),
    onShelf: (shelf) => list(onShelf(shelf)),
    async setEnabled(id, enabled, now) {
      return (await execute(sql`UPDATE skill SET enabled = ${enabled}, updated_at = ${now} WHERE id = ${id} AND deleted_at IS NULL`)) === 1;
    },
    async choose(id, { accountId, spaceId }, enabled) {
      const chosen = await execute(sql`
        INSERT INTO skill_choice (skill_id, account_id, space_id, enabled)
        SELECT t.id, ${accountId}, ${spaceId}, ${enabled} FROM skill t WHERE t.id = ${id} AND t.deleted_at IS NULL ${forUpdate(dialect, "t")}
        ON CONFLICT (account_id, space_id, skill_id) DO UPDATE SET enabled = excluded.enabled`);
      return chosen === 1;
    },
    async forgetChoices({ accountId, spaceId }) {
      await execute(sql`DELETE FROM skill_choice WHERE account_id = ${accountId} AND space_id = ${spaceId}`);
    },
    async replace(id, { description, blobId, bytes, sha256, updatedAt }) {
      const replaced = await execute(sql`
        UPDATE skill SET description = ${description}, blob_id = ${blobId}, bytes = ${bytes}, sha256 = ${sha256}, updated_at = ${updatedAt}
        WHERE id = ${id} AND deleted_at IS NULL`);
      return replaced === 1;
    },
    async remove(ids, now) {
      if (ids.length === 0) return [];
      const removed = await query<Pick<SkillRow, "blob_id">>(sql`
        UPDATE skill SET deleted_at = ${now} WHERE id ${memberOf(dialect, ids)} AND deleted_at IS NULL RETURNING blob_id`);
      // After the rows are locked: whoever chooses now finds none.
      await execute(sql`DELETE FROM skill_choice WHERE skill_id ${memberOf(dialect, ids)}`);
      return removed.map(({ blob_id }) => blob_id);
    },
  };
}

/** Nothing else is ever given out: not another space's, not another project's, not another app's. */
function visibleFrom(dialect: Dialect, { accountId, spaceId, projectId, clientId }: SkillPlace): Sql {
  const project = sql`OR (s.owner_type = 'project' AND s.space_id = ${spaceId} AND s.project_id = ${projectId})`;
  const app = sql`OR (s.owner_type = 'app' AND s.space_id = ${spaceId} AND s.client_id = ${clientId} AND ${isBound[dialect]})`;
  return sql`(s.owner_type = 'official'
    OR (s.owner_type = 'team' AND s.space_id = ${spaceId})
    OR (s.owner_type = 'personal' AND s.space_id = ${spaceId} AND s.account_id = ${accountId})
    ${projectId === null ? sql`` : project} ${clientId === null ? sql`` : app})`;
}

/** The app's settings name it. */
const isBound: Record<Dialect, Sql> = {
  sqlite: sql`EXISTS (SELECT 1 FROM oauth_app o, json_each(o.skill_ids) named
    WHERE o.client_id = s.client_id AND o.deleted_at IS NULL AND named.value = s.id)`,
  postgresql: sql`EXISTS (SELECT 1 FROM oauth_app o, json_array_elements_text(CAST(o.skill_ids AS json)) AS named(value)
    WHERE o.client_id = s.client_id AND o.deleted_at IS NULL AND named.value = s.id)`,
};

/** Of a personal shelf the account counts, elsewhere who brought it does not. */
function onShelf({ ownerType, spaceId, accountId, projectId, clientId }: SkillShelf): Sql {
  const same = (column: Sql, value: string | null): Sql => (value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`);
  return all([
    sql`s.owner_type = ${ownerType}`,
    same(sql`s.space_id`, spaceId),
    same(sql`s.project_id`, projectId),
    same(sql`s.client_id`, clientId),
    ...(ownerType === "personal" ? [same(sql`s.account_id`, accountId)] : []),
  ]);
}

const columnsOf = (skill: Skill) => ({
  id: skill.id,
  owner_type: skill.ownerType,
  space_id: skill.spaceId,
  account_id: skill.accountId,
  project_id: skill.projectId,
  client_id: skill.clientId,
  name: skill.name,
  description: skill.description,
  enabled: skill.enabled,
  blob_id: skill.blobId,
  bytes: skill.bytes,
  sha256: skill.sha256,
  created_at: skill.createdAt,
  updated_at: skill.updatedAt,
});

/** Words were written by this program, so they are believed. */
export const skillOf = (row: SkillRow): SkillView => ({
  id: row.id,
  ownerType: row.owner_type as SkillOwnerType,
  spaceId: row.space_id,
  accountId: row.account_id,
  projectId: row.project_id,
  clientId: row.client_id,
  name: row.name,
  description: row.description,
  enabled: truthOf(row.chosen ?? row.enabled),
  blobId: row.blob_id,
  bytes: numberOf(row.bytes),
  sha256: row.sha256,
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
  creatorName: row.creator_name,
});
