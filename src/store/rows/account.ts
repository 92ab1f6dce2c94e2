import type { AccountRows } from "../../core/accounts/account.ts";
import { changeOf, type Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { boolean, tables, textOrNull } from "../table.ts";

/** Without what only the sign-in code reads. */
const account = tables.account.pick("id", "email", "name", "locale", "createdAt");
const { team } = tables;
const profile = tables.account
  .pick("email", "name", "locale")
  .with({ teamName: textOrNull(sql`t.name`), emailVerified: boolean(sql`(a.issuer IS NOT NULL)`) });
const space = tables.space.pick("id", "kind");
const member = tables.membership.pick(
  "id",
  "teamId",
  "spaceId",
  "accountId",
  "email",
  "role",
  "status",
  "createdAt",
);

/**
 * Accounts, spaces, teams and memberships as rows. SQLite needs no row locks, because it runs one change at a
 * time.
 */
export function accountRows(session: Session): AccountRows {
  const { db, dialect, execute, query } = session;
  const activeOwner = (where: Sql) =>
    member.row(session)(sql`
      SELECT ${member.of("membership")} FROM membership WHERE ${where} AND role = 'owner' AND status <> 'removed' LIMIT 1`);
  return {
    // A first start needs no client of Prisma, which takes 0.3 s to load.
    insertAccount: async (row) => void (await execute(tables.account.insert(row))),
    insertTeam: async (row) => void (await execute(team.insert(row))),
    insertSpace: async (row) => void (await execute(tables.space.insert(row))),
    insertMember: async (row) => void (await execute(tables.membership.insert(row))),
    async byEmail(email) {
      const row = await (await db()).account.findFirst({ where: { email } });
      return row && account.fromClient(row);
    },
    async setProfile(id, data) {
      await (await db()).account.updateMany({ where: { id }, data });
    },
    async setOperator(id, operator) {
      await (await db()).account.updateMany({ where: { id }, data: { operator } });
    },
    profile: (accountId, spaceId) =>
      profile.row(session)(sql`
        SELECT ${profile.of("a")} FROM account a LEFT JOIN team t ON t.space_id = ${spaceId} WHERE a.id = ${accountId}`),
    firstTeam: () =>
      team.row(session)(sql`SELECT ${team.of("team")} FROM team ORDER BY created_at, id LIMIT 1`),
    async teamByName(name) {
      const row = await (await db()).team.findFirst({ where: { name } });
      return row && team.fromClient(row);
    },
    async teamOf(spaceId) {
      const row = await (await db()).team.findFirst({ where: { spaceId } });
      return row && team.fromClient(row);
    },
    owner: (teamId) => activeOwner(sql`team_id = ${teamId}`),
    async member(teamId, accountId) {
      // An active membership sorts before the tombstones of earlier ones: "removed" sorts last.
      const orderBy = [{ status: "asc" as const }, { createdAt: "desc" as const }];
      const row = await (await db()).membership.findFirst({ where: { teamId, accountId }, orderBy });
      return row && member.fromClient(row);
    },
    ownerOf: (spaceId) => activeOwner(sql`space_id = ${spaceId}`),
    async memberById(spaceId, id) {
      const row = await (await db()).membership.findFirst({ where: { spaceId, id } });
      return row && member.fromClient(row);
    },
    async setRole(id, role) {
      await (await db()).membership.updateMany({ where: { id }, data: { role } });
    },
    async renameTeam(id, name) {
      await (await db()).team.updateMany({ where: { id }, data: { name } });
    },
    async personalSpace(accountId) {
      const row = await (await db()).space.findFirst({ where: { accountId } });
      return row && space.fromClient(row);
    },
    async lockSpace(spaceId) {
      changeOf(session);
      if (dialect === "postgresql") await query(sql`SELECT id FROM space WHERE id = ${spaceId} FOR UPDATE`);
    },
    async lock(accountId) {
      changeOf(session);
      if (dialect === "postgresql")
        await query(sql`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`);
    },
  };
}
