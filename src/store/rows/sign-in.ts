import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import type { LinkRows, SignInLink } from "../../core/sign-in/link.ts";
import type { SessionHolder, SessionRows } from "../../core/sign-in/session.ts";
import type { Place, SignInRows } from "../../core/sign-in/sign-in.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import type { Session } from "../session.ts";
import { numberOf, sql, type Whole } from "../sql.ts";

interface HolderRow {
  readonly id: string;
  readonly digest: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly created_at: Whole;
  readonly proved_at: Whole;
  readonly expires_at: Whole;
  readonly locale: string;
  readonly email: string;
  readonly name: string | null;
  readonly team_name: string | null;
  readonly delegated_to: string | null;
  readonly space_kind: string;
  readonly role: string | null;
  readonly status: string | null;
}

/** Sessions of browsers as rows. */
export function sessionRows({ db, query, execute }: Session): SessionRows {
  return {
    async insert(session) {
      await db.session.create({ data: session });
    },
    async holder(digest) {
      // A living membership comes before the tombstones of earlier ones.
      const [row] = await query<HolderRow>(sql`
        SELECT s.id, s.digest, s.account_id, s.space_id, s.created_at, s.proved_at, s.expires_at,
          a.locale, a.email, a.name, t.name AS team_name, c.kind AS space_kind, m.role, m.status, m.delegated_to
        FROM session s JOIN account a ON a.id = s.account_id JOIN space c ON c.id = s.space_id
        LEFT JOIN team t ON t.space_id = s.space_id
        LEFT JOIN membership m ON m.space_id = s.space_id AND m.account_id = s.account_id
        WHERE s.digest = ${digest}
        ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1`);
      return row ? holderOf(row) : null;
    },
    async renew(id, expiresAt, notAfter) {
      await execute(sql`UPDATE session SET expires_at = ${expiresAt} WHERE id = ${id} AND expires_at <= ${notAfter}`);
    },
    async prove(id, provedAt) {
      await execute(sql`UPDATE session SET proved_at = ${provedAt} WHERE id = ${id}`);
    },
    async end(id) {
      await execute(sql`DELETE FROM session WHERE id = ${id}`);
    },
    async endOthers(accountId, keptId) {
      await execute(sql`DELETE FROM session WHERE account_id = ${accountId} AND id <> ${keptId ?? ""}`);
    },
    async endIn(accountId, spaceId) {
      await execute(sql`DELETE FROM session WHERE account_id = ${accountId} AND space_id = ${spaceId}`);
    },
    async purge(before) {
      await execute(sql`DELETE FROM session WHERE expires_at < ${before}`);
    },
  };
}

function holderOf(row: HolderRow): SessionHolder | null {
  // Role and standing were written as such by this program.
  const member =
    row.role === null ? null : { role: row.role as Role, status: row.status as MemberStatus, delegated: row.delegated_to !== null };
  if (member === null && row.space_kind !== "personal") return null;
  const session = {
    id: row.id,
    digest: row.digest,
    accountId: row.account_id,
    spaceId: row.space_id,
    createdAt: numberOf(row.created_at),
    provedAt: numberOf(row.proved_at),
    expiresAt: numberOf(row.expires_at),
  };
  return { session, locale: row.locale, email: row.email, name: row.name, teamName: row.team_name, member };
}

/** What proves who an account is, as rows. */
export function signInRows({ db, query, execute }: Session): SignInRows {
  const account = (id: string) => db.account.findFirst({ where: { id } });
  return {
    password: async (accountId) => (await account(accountId))?.password ?? null,
    async setPassword(accountId, stored) {
      await execute(sql`UPDATE account SET password = ${stored} WHERE id = ${accountId}`);
    },
    async identity(accountId) {
      const row = await account(accountId);
      return row?.issuer && row.subject ? { issuer: row.issuer, subject: row.subject } : null;
    },
    bound: async ({ issuer, subject }) => (await db.account.findFirst({ where: { issuer, subject } }))?.id ?? null,
    async bind(accountId, { issuer, subject }) {
      const bound = await execute(
        sql`UPDATE account SET issuer = ${issuer}, subject = ${subject} WHERE id = ${accountId} AND issuer IS NULL`,
      );
      return bound === 1;
    },
    async places(accountId) {
      const rows = await query<PlaceRow>(sql`
        SELECT c.id AS space_id, t.name, m.id AS member_id, m.role
        FROM space c LEFT JOIN team t ON t.space_id = c.id
        LEFT JOIN membership m ON m.space_id = c.id AND m.account_id = ${accountId} AND m.status = 'active' AND m.delegated_to IS NULL
        WHERE c.account_id = ${accountId} OR m.id IS NOT NULL
        ORDER BY CASE WHEN t.name IS NULL THEN 0 ELSE 1 END, t.name`);
      return rows.map(placeOf);
    },
    async signedIn(memberId, now) {
      await execute(sql`UPDATE membership SET signed_in_at = ${now} WHERE id = ${memberId} AND signed_in_at IS NULL`);
    },
  };
}

interface PlaceRow {
  readonly space_id: string;
  readonly name: string | null;
  readonly member_id: string | null;
  readonly role: string | null;
}

const placeOf = ({ space_id, name, member_id, role }: PlaceRow): Place => ({
  spaceId: space_id,
  // Roles were written as such by this program.
  team: name === null || member_id === null ? null : { name, memberId: member_id, role: role as Role },
});

/** Sign-in links as rows. */
export function linkRows({ db, query, execute }: Session): LinkRows {
  const open = { usedAt: null };
  return {
    async insert(link) {
      await db.signInLink.create({ data: link });
    },
    open: async (digest, now) => linkOf(await db.signInLink.findFirst({ where: { digest, ...open, expiresAt: { gt: now } } })),
    async use(digest, now) {
      const [row] = await query<LinkRow>(sql`
        UPDATE sign_in_link SET used_at = ${now} WHERE digest = ${digest} AND used_at IS NULL AND expires_at > ${now}
        RETURNING account_id, space_id, created_at, expires_at`);
      if (!row) return null;
      const { account_id: accountId, space_id: spaceId, created_at, expires_at } = row;
      return { digest, accountId, spaceId, createdAt: numberOf(created_at), expiresAt: numberOf(expires_at) };
    },
    async openOf(accountId, now) {
      const where = { accountId, ...open, expiresAt: { gt: now } };
      const rows = await db.signInLink.findMany({ where, orderBy: [{ createdAt: "desc" }, { digest: "asc" }] });
      return rows.flatMap((row) => linkOf(row) ?? []);
    },
    async useUp(accountId, spaceId, now) {
      const where = spaceId === null ? { accountId, ...open } : { accountId, spaceId, ...open };
      await db.signInLink.updateMany({ where, data: { usedAt: now } });
    },
    usedAt: async (accountId, at) => (await db.signInLink.count({ where: { accountId, usedAt: at } })) > 0,
    async purge(before) {
      await execute(sql`DELETE FROM sign_in_link WHERE expires_at < ${before}`);
    },
  };
}

interface LinkRow {
  readonly account_id: string;
  readonly space_id: string;
  readonly created_at: Whole;
  readonly expires_at: Whole;
}

const linkOf = (row: Rows.SignInLink | null): SignInLink | null =>
  row && {
    digest: row.digest,
    accountId: row.accountId,
    spaceId: row.spaceId,
    createdAt: numberOf(row.createdAt),
    expiresAt: numberOf(row.expiresAt),
  };
