import type { MemberStatus, Role } from "../core/accounts/account.ts";
import type { SessionHolder, SessionRows } from "../core/sign-in/session.ts";
import type { Session } from "./session.ts";
import { numberOf, sql, type Whole } from "./sql.ts";

interface HolderRow {
  readonly id: string;
  readonly digest: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly created_at: Whole;
  readonly proved_at: Whole;
  readonly expires_at: Whole;
  readonly locale: string;
  readonly space_kind: string;
  readonly role: string | null;
  readonly status: string | null;
}

/** Sessions of browsers as rows. */
export function sessionRows({ db, query }: Session): SessionRows {
  return {
    async insert(session) {
      await db.session.create({ data: session });
    },
    async holder(digest) {
      // A living membership comes before the tombstones of earlier ones.
      const [row] = await query<HolderRow>(sql`
        SELECT s.id, s.digest, s.account_id, s.space_id, s.created_at, s.proved_at, s.expires_at,
          a.locale, c.kind AS space_kind, m.role, m.status
        FROM session s JOIN account a ON a.id = s.account_id JOIN space c ON c.id = s.space_id
        LEFT JOIN membership m ON m.space_id = s.space_id AND m.account_id = s.account_id
        WHERE s.digest = ${digest}
        ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1`);
      return row ? holderOf(row) : null;
    },
  };
}

function holderOf(row: HolderRow): SessionHolder | null {
  const member = row.role === null ? null : { role: row.role as Role, status: row.status as MemberStatus };
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
  return { session, locale: row.locale, member };
}
