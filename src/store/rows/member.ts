import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import type { MemberChanges, MemberRows } from "../../core/teams/member.ts";
import type { HeldProfile, TeamUser, TeamUserFilter } from "../../core/teams/team-user.ts";
import { changeOf, type Session } from "../session.ts";
import { all, assignments, empty, join, numberOf, type Row, type Sql, sql, type Whole } from "../sql.ts";

interface MemberRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly original_email: string | null;
  readonly name: string | null;
  readonly role: string;
  readonly status: string;
  readonly delegated_to: string | null;
  readonly delegated_at: Whole | null;
  readonly external_id: string | null;
  readonly created_at: Whole;
}

interface PageRow extends MemberRow {
  readonly total: Whole;
}

/** The account's own name counts from the person's first sign-in to this team on (contract/decisions.md 5). */
const name = sql`COALESCE(m.name, (SELECT a.name FROM account a WHERE a.id = m.account_id AND m.signed_in_at IS NOT NULL))`;

const members = sql`
  SELECT m.id, m.account_id, m.email, m.original_email, ${name} AS name, m.role, m.status,
    m.delegated_to, m.delegated_at, m.external_id, m.created_at
  FROM membership m`;

/** Memberships as the team's management sees them. */
export function memberRows(session: Session): MemberRows {
  const { db, dialect, query, execute } = session;
  return {
    async list(spaceId, filter) {
      const chosen = all([sql`m.space_id = ${spaceId}`, ...conditions(filter)]);
      // The count is a row of its own, so that a page beyond the end has a total too.
      const rows = await query<PageRow>(sql`
        SELECT counted.total, page.* FROM (SELECT COUNT(*) AS total FROM membership m WHERE ${chosen}) counted
        LEFT JOIN (${members} WHERE ${chosen} ORDER BY m.created_at, m.id LIMIT ${filter.limit} OFFSET ${filter.offset}) page ON 1 = 1
        ORDER BY page.created_at, page.id`);
      return { users: rows.flatMap((row) => (row.id === null ? [] : [userOf(row)])), total: numberOf(rows[0]?.total ?? 0) };
    },
    async find(spaceId, { id, email = "" }) {
      const which = id === undefined ? sql`m.email = ${email.toLowerCase()}` : sql`m.id = ${id}`;
      const [row] = await query<MemberRow>(sql`${members} WHERE m.space_id = ${spaceId} AND ${which} AND m.status <> 'removed'`);
      return row ? userOf(row) : null;
    },
    async holds(id) {
      const rows = await query<MemberRow>(sql`${members} WHERE m.delegated_to = ${id} ORDER BY m.delegated_at, m.id`);
      return rows.map(heldOf);
    },
    async insert(member) {
      await db.membership.create({ data: member });
    },
    async update(spaceId, id, changes) {
      const set = columnsOf(changes);
      if (Object.keys(set).length === 0) return;
      await execute(sql`UPDATE membership SET ${join(assignments(set))} WHERE space_id = ${spaceId} AND id = ${id}`);
    },
    async hold({ accountId, spaceId }) {
      changeOf(session);
      const [member] = await query(sql`
        SELECT m.id FROM membership m WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId}
          AND m.status = 'active' AND m.delegated_to IS NULL ${dialect === "postgresql" ? sql`FOR SHARE` : empty}`);
      return member !== undefined;
    },
    async eraseAccount(id) {
      const erased = await execute(sql`
        DELETE FROM account WHERE id = ${id}
          AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.account_id = ${id} AND m.status <> 'removed')
          AND NOT EXISTS (SELECT 1 FROM space s WHERE s.account_id = ${id})`);
      return erased === 1;
    },
  };
}

/** Removed members are tombstones: they are shown on request only (contract/enterprise.md 13, row 21). */
function conditions({ status, delegation, email, externalId }: TeamUserFilter): Sql[] {
  const holds = sql`EXISTS (SELECT 1 FROM membership h WHERE h.delegated_to = m.id)`;
  return [
    status === undefined ? sql`m.status <> 'removed'` : sql`m.status = ${status}`,
    ...(email === undefined ? [] : [sql`m.email = ${email.toLowerCase()}`]),
    ...(externalId === undefined ? [] : [sql`m.external_id = ${externalId}`]),
    ...(delegation === "delegated" ? [sql`m.delegated_to IS NOT NULL`] : []),
    ...(delegation === "has_delegates" ? [holds] : []),
    ...(delegation === "none" ? [sql`m.delegated_to IS NULL AND NOT ${holds}`] : []),
  ];
}

function columnsOf({ externalId, delegation, removedAt, ...same }: MemberChanges): Row {
  return {
    ...same,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    ...(removedAt === undefined ? {} : { removed_at: removedAt }),
    ...(delegation === undefined
      ? {}
      : {
          delegated_to: delegation?.to ?? null,
          delegated_at: delegation?.at ?? null,
          original_email: delegation?.originalEmail ?? null,
        }),
  };
}

/** Role and standing were written as such by this program; the three columns of a delegation come and go together. */
const userOf = (row: MemberRow): TeamUser => ({
  id: row.id,
  accountId: row.account_id,
  email: row.email,
  name: row.name,
  status: row.status as MemberStatus,
  role: row.role as Role,
  delegation:
    row.delegated_to === null
      ? null
      : { to: row.delegated_to, at: numberOf(row.delegated_at ?? 0), originalEmail: row.original_email ?? row.email },
  externalId: row.external_id,
  createdAt: numberOf(row.created_at),
});

function heldOf(row: MemberRow): HeldProfile {
  const { id, name: named, email, role, delegation } = userOf(row);
  return { id, displayName: named ?? delegation?.originalEmail ?? email, role, delegatedAt: delegation?.at ?? 0 };
}
