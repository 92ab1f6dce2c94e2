import type { GroupFilter, GroupRows, MappedRole } from "../../core/teams/group.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, join, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, integer, tables, text, textOrNull } from "../table.ts";

const { teamGroup, teamGroupMember } = tables;

const size = integer(sql`(SELECT COUNT(*) FROM team_group_member n WHERE n.group_id = g.id)`);
/** A group of a page. An empty page has one row with only the total. */
const paged = teamGroup.with({
  members: size,
  total: integer(sql`counted.total`),
  isThere: boolean(sql`(g.id IS NOT NULL)`),
});
const member = computedShape({
  groupId: text(sql`l.group_id`),
  id: text(sql`m.id`),
  display: text(sql`COALESCE(m.name, m.email)`),
});
const known = computedShape({ id: text(sql`m.id`) });

/** The highest role that groups give to the member `m`. */
const mappedRole = sql`(
  SELECT CASE MAX(CASE g.role WHEN 'admin' THEN 3 WHEN 'member' THEN 2 ELSE 1 END) WHEN 3 THEN 'admin' WHEN 2 THEN 'member' WHEN 1 THEN 'guest' END
  FROM team_group_member l JOIN team_group g ON g.id = l.group_id WHERE l.member_id = m.id AND g.role IS NOT NULL)`;
const mapped = textOrNull<MappedRole>(mappedRole);
const roleOnly = computedShape({ mapped });
const roles = computedShape({ id: text(sql`m.id`), role: text<MappedRole>(sql`m.role`), mapped });

/**
 * Groups do not change the owner, super admins, removed members and delegated profiles (spec/enterprise.md
 * 5.9).
 */
const isChangeable = sql`m.status <> 'removed' AND m.delegated_to IS NULL AND m.role IN ('admin', 'member', 'guest')`;

/** Groups of identity providers as rows. Lists of ids are not empty. */
export function groupRows(session: Session): GroupRows {
  const { execute } = session;
  return {
    async list(spaceId, filter) {
      const matching = allOf([sql`g.space_id = ${spaceId}`, ...conditions(filter)]);
      const rows = await paged.rows(session)(sql`
        SELECT ${paged.of("g")} FROM (SELECT COUNT(*) AS total FROM team_group g WHERE ${matching}) counted
        LEFT JOIN (
          SELECT g.* FROM team_group g WHERE ${matching} ORDER BY g.created_at, g.id LIMIT ${filter.limit} OFFSET ${filter.offset}
        ) g ON 1 = 1
        ORDER BY g.created_at, g.id`);
      return {
        groups: rows.flatMap(({ total, isThere, ...row }) => (isThere ? [row] : [])),
        total: rows[0]?.total ?? 0,
      };
    },
    find: (spaceId, id) =>
      teamGroup.row(session)(
        sql`SELECT ${teamGroup.of("g")} FROM team_group g WHERE g.space_id = ${spaceId} AND g.id = ${id}`,
      ),
    listMembers: (ids) =>
      member.rows(session)(sql`
        SELECT ${member.of("l")} FROM team_group_member l JOIN membership m ON m.id = l.member_id AND m.status <> 'removed'
        WHERE l.group_id IN (${join([...ids])}) ORDER BY m.created_at, m.id`),
    async listKnown(spaceId, ids) {
      const rows = await known.rows(session)(sql`
        SELECT ${known.of("m")} FROM membership m WHERE m.space_id = ${spaceId} AND m.status <> 'removed' AND m.id IN (${join([...ids])})`);
      return rows.map(({ id }) => id);
    },
    async insert(added) {
      changeOf(session);
      await execute(teamGroup.insert({ ...added, nameKey: keyOf(added.displayName) }));
    },
    async update({ id, spaceId, displayName, externalId, role, updatedAt }) {
      const set = join(
        teamGroup.set({ displayName, nameKey: keyOf(displayName), externalId, role, updatedAt }),
      );
      await execute(sql`UPDATE team_group SET ${set} WHERE space_id = ${spaceId} AND id = ${id}`);
    },
    async remove(spaceId, id) {
      await execute(sql`DELETE FROM team_group_member WHERE group_id = ${id}`);
      await execute(sql`DELETE FROM team_group WHERE space_id = ${spaceId} AND id = ${id}`);
    },
    async addMembers(groupId, ids) {
      changeOf(session);
      await execute(teamGroupMember.insertAll(ids.map((memberId) => ({ groupId, memberId }))));
    },
    async removeMembers(groupId, ids) {
      await execute(
        sql`DELETE FROM team_group_member WHERE group_id = ${groupId} AND member_id IN (${join([...ids])})`,
      );
    },
    async leaveAll(memberId) {
      const ofMember = sql`SELECT l.group_id FROM team_group_member l WHERE l.member_id = ${memberId}`;
      await execute(sql`UPDATE team_group SET updated_at = updated_at + 1 WHERE id IN (${ofMember})`);
      await execute(sql`DELETE FROM team_group_member WHERE member_id = ${memberId}`);
    },
    async roleOf(memberId) {
      const row = await roleOnly.row(session)(
        sql`SELECT ${roleOnly.of("m")} FROM membership m WHERE m.id = ${memberId}`,
      );
      return row?.mapped ?? null;
    },
    listRoles: (spaceId, ids) =>
      roles.rows(session)(sql`
        SELECT ${roles.of("m")} FROM membership m WHERE m.space_id = ${spaceId} AND ${isChangeable} AND m.id IN (${join([...ids])})`),
    async setRole(spaceId, ids, role) {
      await execute(
        sql`UPDATE membership SET role = ${role} WHERE space_id = ${spaceId} AND id IN (${join([...ids])})`,
      );
    },
  };
}

const keyOf = (name: string): string => name.toLowerCase();

const conditions = ({ id, displayName, externalId, memberId }: GroupFilter): Sql[] => [
  ...(id === undefined ? [] : [sql`g.id = ${id}`]),
  ...(displayName === undefined ? [] : [sql`g.name_key = ${keyOf(displayName)}`]),
  ...(externalId === undefined ? [] : [sql`g.external_id = ${externalId}`]),
  ...(memberId === undefined
    ? []
    : [
        sql`EXISTS (SELECT 1 FROM team_group_member l WHERE l.group_id = g.id AND l.member_id = ${memberId})`,
      ]),
];
