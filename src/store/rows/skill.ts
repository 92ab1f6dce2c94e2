import type { SkillChooser, SkillOwner, SkillRows, SkillScope } from "../../core/skills/skill.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, forUpdate, inTexts, join, type Sql, sql } from "../statements.ts";
import { boolean, newestFirst, tables, textOrNull } from "../table.ts";

const removedSkill = tables.skill.pick("blobId");

/**
 * A team sees its own name for the person, or else the account's name once the person has signed in to the
 * team (spec/decisions.md 5).
 */
const creatorName = textOrNull(sql`
  CASE WHEN m.id IS NULL THEN a.name ELSE COALESCE(m.name, CASE WHEN m.signed_in_at IS NOT NULL THEN a.name END) END`);
const creator = sql`LEFT JOIN account a ON a.id = s.account_id LEFT JOIN membership m ON m.id = (
  SELECT l.id FROM membership l WHERE l.space_id = s.space_id AND l.account_id = s.account_id ORDER BY l.created_at DESC, l.id DESC LIMIT 1)`;

/** A skill `s` of `skillsFrom`. */
export const skillShape = tables.skill
  .pick(
    "id",
    "ownerType",
    "spaceId",
    "accountId",
    "projectId",
    "clientId",
    "name",
    "description",
    "enabled",
    "blobId",
    "bytes",
    "sha256",
    "createdAt",
    "updatedAt",
  )
  .with({ creatorName });
/** Skills, including deleted ones, without the choices of accounts. */
export const skillsFrom = sql`FROM skill s ${creator}`;

const chosenSkill = tables.skill
  .pick(
    "id",
    "ownerType",
    "spaceId",
    "accountId",
    "projectId",
    "clientId",
    "name",
    "description",
    "blobId",
    "bytes",
    "sha256",
    "createdAt",
    "updatedAt",
  )
  .with({ creatorName, enabled: boolean(sql`COALESCE(c.enabled, s.enabled)`) });
const chosenFrom = ({ accountId, spaceId }: SkillChooser): Sql => sql`
  ${skillsFrom} LEFT JOIN skill_choice c ON c.skill_id = s.id AND c.account_id = ${accountId} AND c.space_id = ${spaceId}`;

const skills = sql`SELECT ${skillShape.of("s")} ${skillsFrom} WHERE s.deleted_at IS NULL`;
const byAge = sql`ORDER BY s.created_at DESC, s.id DESC`;

export function skillRows(session: Session): SkillRows {
  const { execute, dialect } = session;
  return {
    async insert(skill) {
      await execute(tables.skill.insert(skill));
    },
    byId: (id) => skillShape.row(session)(sql`${skills} AND s.id = ${id}`),
    all: (max) => skillShape.rows(session)(sql`${skills} ${byAge} LIMIT ${max}`),
    visible: async (scope) =>
      (await chosenSkill.rows(session)(listVisible(dialect, scope))).sort(newestFirst),
    listOfOwner: (owner) => skillShape.rows(session)(sql`${skills} AND ${ownedBy(owner)} ${byAge}`),
    async setEnabled(id, enabled, now) {
      return (
        (await execute(
          sql`UPDATE skill SET enabled = ${enabled}, updated_at = ${now} WHERE id = ${id} AND deleted_at IS NULL`,
        )) === 1
      );
    },
    async choose(id, { accountId, spaceId }, enabled) {
      const chosen = await execute(sql`
        INSERT INTO skill_choice (skill_id, account_id, space_id, enabled)
        SELECT t.id, ${accountId}, ${spaceId}, ${enabled} FROM skill t WHERE t.id = ${id} AND t.deleted_at IS NULL ${forUpdate(dialect, "t")}
        ON CONFLICT (account_id, space_id, skill_id) DO UPDATE SET enabled = excluded.enabled`);
      return chosen === 1;
    },
    async deleteChoices({ accountId, spaceId }) {
      await execute(sql`DELETE FROM skill_choice WHERE account_id = ${accountId} AND space_id = ${spaceId}`);
    },
    async replace(id, { description, blobId, bytes, sha256, updatedAt }) {
      const replaced = await execute(sql`
        UPDATE skill SET ${join(tables.skill.set({ description, blobId, bytes, sha256, updatedAt }))}
        WHERE id = ${id} AND deleted_at IS NULL`);
      return replaced === 1;
    },
    async remove(ids, now) {
      if (ids.length === 0) return [];
      const removed = await removedSkill.rows(session)(sql`
        UPDATE skill SET deleted_at = ${now} WHERE id ${inTexts(dialect, ids)} AND deleted_at IS NULL RETURNING ${removedSkill.of("skill")}`);
      // Runs after the rows are locked, so that a concurrent `choose` finds no skill.
      await execute(sql`DELETE FROM skill_choice WHERE skill_id ${inTexts(dialect, ids)}`);
      return removed.map(({ blobId }) => blobId);
    },
  };
}

/** Excludes the skills of other spaces, projects and apps. */
function visibleFrom(dialect: Dialect, { accountId, spaceId, projectId, clientId }: SkillScope): Sql {
  const project = sql`OR (s.owner_type = 'project' AND s.space_id = ${spaceId} AND s.project_id = ${projectId})`;
  const app = sql`OR (s.owner_type = 'app' AND s.space_id = ${spaceId} AND s.client_id = ${clientId} AND ${isBound[dialect]})`;
  return sql`(s.owner_type = 'official'
    OR (s.owner_type = 'team' AND s.space_id = ${spaceId})
    OR (s.owner_type = 'personal' AND s.space_id = ${spaceId} AND s.account_id = ${accountId})
    ${projectId === null ? sql`` : project} ${clientId === null ? sql`` : app})`;
}

const listVisible = (dialect: Dialect, scope: SkillScope): Sql => sql`
  SELECT ${chosenSkill.of("s")} ${chosenFrom(scope)} WHERE s.deleted_at IS NULL AND ${visibleFrom(dialect, scope)}`;

/** The app's settings include the skill. */
const isBound: Record<Dialect, Sql> = {
  sqlite: sql`EXISTS (SELECT 1 FROM oauth_app o, json_each(o.skill_ids) named
    WHERE o.client_id = s.client_id AND o.deleted_at IS NULL AND named.value = s.id)`,
  postgresql: sql`EXISTS (SELECT 1 FROM oauth_app o, json_array_elements_text(CAST(o.skill_ids AS json)) AS named(value)
    WHERE o.client_id = s.client_id AND o.deleted_at IS NULL AND named.value = s.id)`,
};

/**
 * For personal skills the account must match. For other skills the account is only the creator and is
 * ignored.
 */
function ownedBy({ ownerType, spaceId, accountId, projectId, clientId }: SkillOwner): Sql {
  const same = (column: Sql, value: string | null): Sql =>
    value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;
  return allOf([
    sql`s.owner_type = ${ownerType}`,
    same(sql`s.space_id`, spaceId),
    same(sql`s.project_id`, projectId),
    same(sql`s.client_id`, clientId),
    ...(ownerType === "personal" ? [same(sql`s.account_id`, accountId)] : []),
  ]);
}
