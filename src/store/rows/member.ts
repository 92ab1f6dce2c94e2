import type {
  HeldProfile,
  MemberChanges,
  MemberRows,
  TeamUser,
  TeamUserFilter,
} from "../../core/teams/team-user.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, type Dialect, forShare, join, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, integer, type RowOf, tables, textOrNull } from "../table.ts";
import { ofGrants } from "./grant.ts";

const { membership } = tables;

/** The account's own name is shown after the person's first sign-in to this team (spec/decisions.md 5). */
const shownName = sql`COALESCE(m.name, (SELECT a.name FROM account a WHERE a.id = m.account_id AND m.signed_in_at IS NOT NULL))`;

const member = membership
  .pick(
    "id",
    "accountId",
    "email",
    "originalEmail",
    "role",
    "status",
    "delegatedTo",
    "delegatedAt",
    "externalId",
    "createdAt",
  )
  .with({ name: textOrNull(shownName) });
/** A member of a page. An empty page has one row with only the total. */
const paged = member.with({ total: integer(sql`counted.total`), isThere: boolean(sql`(m.id IS NOT NULL)`) });

const members = sql`SELECT ${member.of("m")} FROM membership m`;

const person = membership.pick("id", "accountId", "role", "email").with({ name: textOrNull(shownName) });
const pagedPerson = person.with({
  total: integer(sql`counted.total`),
  isThere: boolean(sql`(m.id IS NOT NULL)`),
});

/** Memberships as rows, for the team's management. */
export function memberRows(session: Session): MemberRows {
  const { dialect, query, execute } = session;
  return {
    async list(spaceId, filter) {
      const matching = allOf([sql`m.space_id = ${spaceId}`, ...conditions(filter)]);
      // The count is a separate row, so that a page beyond the end has a total too.
      const rows = await paged.rows(session)(sql`
        SELECT ${paged.of("m")} FROM (SELECT COUNT(*) AS total FROM membership m WHERE ${matching}) counted
        LEFT JOIN (
          SELECT m.* FROM membership m WHERE ${matching} ORDER BY m.created_at, m.id LIMIT ${filter.limit} OFFSET ${filter.offset}
        ) m ON 1 = 1
        ORDER BY m.created_at, m.id`);
      return {
        users: rows.flatMap(({ total, isThere, ...row }) => (isThere ? [userOf(row)] : [])),
        total: rows[0]?.total ?? 0,
      };
    },
    async find(spaceId, { id, email = "" }) {
      const which = id === undefined ? sql`m.email = ${email.toLowerCase()}` : sql`m.id = ${id}`;
      const row = await member.row(session)(
        sql`${members} WHERE m.space_id = ${spaceId} AND ${which} AND m.status <> 'removed'`,
      );
      return row && userOf(row);
    },
    async listHeldProfiles(id) {
      const rows = await member.rows(session)(
        sql`${members} WHERE m.delegated_to = ${id} ORDER BY m.delegated_at, m.id`,
      );
      return rows.map(heldOf);
    },
    async directory(spaceId, { query, byEmail, limit, offset }) {
      const isListed = sql`m.space_id = ${spaceId} AND m.status = 'active' AND m.delegated_to IS NULL`;
      const matching = allOf([isListed, ...(query === undefined ? [] : [nameContains(query, byEmail)])]);
      const rows = await pagedPerson.rows(session)(sql`
        SELECT ${pagedPerson.of("m")} FROM (SELECT COUNT(*) AS total FROM membership m WHERE ${matching}) counted
        LEFT JOIN (
          SELECT m.*, LOWER(COALESCE(${shownName}, m.email)) AS shown FROM membership m WHERE ${matching} ORDER BY shown, m.id LIMIT ${limit} OFFSET ${offset}
        ) m ON 1 = 1
        ORDER BY m.shown, m.id`);
      return {
        people: rows.flatMap(({ total, isThere, ...row }) => (isThere ? [row] : [])),
        total: rows[0]?.total ?? 0,
      };
    },
    async countEffects(scope, now) {
      const row = await effects.row(session)(
        sql`SELECT ${effects.of("t")} FROM (${effectsOf(scope, now)}) t`,
      );
      if (row === null) throw new Error("a statement of counts returned no row");
      return row;
    },
    async insert(added) {
      await execute(membership.insert(added));
    },
    async update(spaceId, id, changes) {
      const set = membership.set(membershipColumns(changes));
      if (set.length === 0) return;
      await execute(sql`UPDATE membership SET ${join(set)} WHERE space_id = ${spaceId} AND id = ${id}`);
    },
    async lockActive({ accountId, spaceId }) {
      changeOf(session);
      const [held] = await query(activeMember(dialect, accountId, spaceId));
      return held !== undefined;
    },
    async deleteAccount(id) {
      const erased = await execute(sql`
        DELETE FROM account WHERE id = ${id}
          AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.account_id = ${id} AND m.status <> 'removed')
          AND NOT EXISTS (SELECT 1 FROM space s WHERE s.account_id = ${id})`);
      return erased === 1;
    },
  };
}

/**
 * The text in any letter case; SQLite knows the letter case of ASCII only, so the text is also searched as it
 * is.
 */
function nameContains(query: string, byEmail: boolean): Sql {
  const pattern = (text: string) => `%${text.replace(/[!%_]/g, "!$&")}%`;
  const [lower, same] = [pattern(query.toLowerCase()), pattern(query)];
  const byName = sql`LOWER(${shownName}) LIKE ${lower} ESCAPE '!' OR ${shownName} LIKE ${same} ESCAPE '!'`;
  return byEmail ? sql`(${byName} OR m.email LIKE ${lower} ESCAPE '!')` : sql`(${byName})`;
}

/** What an account has in a space, as one row. */
const effectsOf = (
  { accountId, spaceId }: { readonly accountId: string; readonly spaceId: string },
  now: number,
): Sql => {
  const own = sql`space_id = ${spaceId} AND account_id = ${accountId}`;
  return sql`
    SELECT (SELECT COUNT(*) FROM session WHERE ${own} AND expires_at > ${now}) AS sessions,
      (SELECT COUNT(*) FROM oauth_family WHERE ${ofGrants(accountId, spaceId)} AND revoked_at IS NULL AND refresh_expires_at > ${now}) AS tokens,
      (SELECT COUNT(*) FROM task WHERE ${own} AND status = 'running' AND deleted_at IS NULL) AS running_tasks,
      (SELECT COUNT(*) FROM api_key WHERE ${own} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})) AS keys,
      (SELECT COUNT(*) FROM oauth_grant WHERE ${own} AND revoked_at IS NULL) AS grants,
      (SELECT COUNT(*) FROM webhook WHERE ${own} AND client_id IS NULL AND deleted_at IS NULL) AS webhooks,
      (SELECT COUNT(*) FROM connector WHERE ${own} AND deleted_at IS NULL) AS connectors,
      (SELECT COUNT(*) FROM skill WHERE ${own} AND owner_type = 'personal' AND deleted_at IS NULL) AS skills,
      (SELECT COUNT(*) FROM sign_in_link WHERE ${own} AND used_at IS NULL AND expires_at > ${now}) AS links`;
};

const effects = computedShape({
  sessions: integer(sql`t.sessions`),
  tokens: integer(sql`t.tokens`),
  runningTasks: integer(sql`t.running_tasks`),
  keys: integer(sql`t.keys`),
  grants: integer(sql`t.grants`),
  webhooks: integer(sql`t.webhooks`),
  connectors: integer(sql`t.connectors`),
  skills: integer(sql`t.skills`),
  links: integer(sql`t.links`),
});

/** Removed members are tombstones: they are listed only on request (spec/enterprise.md 13, row 21). */
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

/** Locks the row on PostgreSQL. SQLite's only writer needs no lock: the answer stays true until it writes. */
const activeMember = (dialect: Dialect, accountId: string, spaceId: string): Sql => sql`
  SELECT m.id FROM membership m WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId}
    AND m.status = 'active' AND m.delegated_to IS NULL ${forShare(dialect)}`;

/** Sets or clears the three columns of a delegation together. */
function membershipColumns({ delegation, ...same }: MemberChanges) {
  if (delegation === undefined) return same;
  const { to = null, at = null, originalEmail = null } = delegation ?? {};
  return { ...same, delegatedTo: to, delegatedAt: at, originalEmail };
}

const userOf = ({ delegatedTo, delegatedAt, originalEmail, ...user }: RowOf<typeof member>): TeamUser => ({
  ...user,
  delegation:
    delegatedTo === null
      ? null
      : { to: delegatedTo, at: delegatedAt ?? 0, originalEmail: originalEmail ?? user.email },
});

function heldOf(row: RowOf<typeof member>): HeldProfile {
  const { id, name, email, role, delegation } = userOf(row);
  return {
    id,
    displayName: name ?? delegation?.originalEmail ?? email,
    role,
    delegatedAt: delegation?.at ?? 0,
  };
}
