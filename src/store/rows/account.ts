import type { Account, AccountRows, Member, MemberStatus, Role, Space, Team } from "../../core/accounts/account.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import { changeOf, type Session } from "../session.ts";
import { numberOf, sql } from "../sql.ts";

/** Accounts, spaces, teams and memberships as rows. SQLite needs no row locks: its changes are alone anyway. */
export function accountRows(session: Session): AccountRows {
  const { db, dialect, query } = session;
  return {
    async insertAccount(account) {
      await db.account.create({ data: account });
    },
    async insertTeam(team) {
      await db.team.create({ data: team });
    },
    async insertSpace(space) {
      await db.space.create({ data: space });
    },
    async insertMember(member) {
      await db.membership.create({ data: member });
    },
    byEmail: async (email) => accountOf(await db.account.findFirst({ where: { email } })),
    firstTeam: async () => teamOf(await db.team.findFirst({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] })),
    teamByName: async (name) => teamOf(await db.team.findFirst({ where: { name } })),
    teamOf: async (spaceId) => teamOf(await db.team.findFirst({ where: { spaceId } })),
    owner: async (teamId) => memberOf(await db.membership.findFirst({ where: { teamId, role: "owner", status: { not: "removed" } } })),
    async member(teamId, accountId) {
      // A living membership comes before the tombstones of earlier ones: "removed" sorts last.
      return memberOf(await db.membership.findFirst({ where: { teamId, accountId }, orderBy: [{ status: "asc" }, { createdAt: "desc" }] }));
    },
    ownerOf: async (spaceId) => memberOf(await db.membership.findFirst({ where: { spaceId, role: "owner", status: { not: "removed" } } })),
    memberById: async (spaceId, id) => memberOf(await db.membership.findFirst({ where: { spaceId, id } })),
    async setRole(id, role) {
      await db.membership.updateMany({ where: { id }, data: { role } });
    },
    personalSpace: async (accountId) => spaceOf(await db.space.findFirst({ where: { accountId } })),
    async lockSpace(spaceId) {
      changeOf(session);
      if (dialect === "postgresql") await query(sql`SELECT id FROM space WHERE id = ${spaceId} FOR UPDATE`);
    },
    async lock(accountId) {
      changeOf(session);
      if (dialect === "postgresql") await query(sql`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`);
    },
  };
}

/** Without what proves who it is: that is read by whoever checks it, and by nobody else. */
const accountOf = (row: Rows.Account | null): Account | null =>
  row && { id: row.id, email: row.email, name: row.name, locale: row.locale, createdAt: numberOf(row.createdAt) };

const teamOf = (row: Rows.Team | null): Team | null => row && { ...row, createdAt: numberOf(row.createdAt) };

/** Role and standing were written as such by this program. */
const memberOf = (row: Rows.Membership | null): Member | null =>
  row && {
    id: row.id,
    teamId: row.teamId,
    spaceId: row.spaceId,
    accountId: row.accountId,
    email: row.email,
    role: row.role as Role,
    status: row.status as MemberStatus,
    createdAt: numberOf(row.createdAt),
  };

const spaceOf = (row: Rows.Space | null): Space | null => row && { id: row.id, kind: row.kind as Space["kind"] };
