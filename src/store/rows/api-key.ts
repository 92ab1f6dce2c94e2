import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import type { KeyKind } from "../../core/caller.ts";
import type { ApiKeyRows, KeyHolder, UsedKey } from "../../core/keys/api-key.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import type { Session } from "../session.ts";
import { numberOf, numberOrNull, sql, type Whole } from "../sql.ts";

interface HolderRow {
  readonly id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly kind: string;
  readonly name: string;
  readonly digest: string;
  readonly created_at: Whole;
  readonly expires_at: Whole | null;
  readonly revoked_at: Whole | null;
  readonly used_at: Whole | null;
  /** Null once the account is erased. */
  readonly locale: string | null;
  readonly space_kind: string;
  /** Role and status; null without a membership. */
  readonly membership: string | null;
}

/** API keys as rows. */
export function apiKeyRows({ db, query, execute }: Session): ApiKeyRows {
  return {
    async insert(key) {
      await db.apiKey.create({ data: key });
    },
    async holder(digest) {
      // Not by joins: on SQLite every column of a join costs several times as much.
      // A living membership comes before the tombstones of earlier ones.
      const [row] = await query<HolderRow>(sql`
        SELECT k.id, k.account_id, k.space_id, k.kind, k.name, k.digest, k.created_at, k.expires_at, k.revoked_at, k.used_at,
          (SELECT locale FROM account WHERE id = k.account_id) AS locale, (SELECT kind FROM space WHERE id = k.space_id) AS space_kind,
          (SELECT role || ' ' || CASE WHEN delegated_to IS NULL THEN status ELSE 'inactive' END FROM membership m WHERE m.space_id = k.space_id AND m.account_id = k.account_id
            ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1) AS membership
        FROM api_key k WHERE k.digest = ${digest}`);
      return row ? holderOf(row) : null;
    },
    countLiving: (accountId, now) =>
      db.apiKey.count({
        where: { accountId, kind: "general", ...living(now) },
      }),
    async revoke(id, now) {
      const { count } = await db.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
      return count === 1;
    },
    async revokeOwn({ accountId, spaceId }, id, now) {
      const { count } = await db.apiKey.updateMany({ where: { id, accountId, spaceId, ...living(now) }, data: { revokedAt: now } });
      return count === 1;
    },
    async revokeAll(accountId, spaceId, now) {
      const { count } = await db.apiKey.updateMany({ where: { accountId, spaceId, revokedAt: null }, data: { revokedAt: now } });
      return count;
    },
    async list({ accountId, spaceId }, now) {
      const rows = await db.apiKey.findMany({
        where: { accountId, spaceId, ...living(now) },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      });
      return rows.map(keyOf);
    },
    async use(id, at, everyMs) {
      await execute(sql`UPDATE api_key SET used_at = ${at} WHERE id = ${id} AND (used_at IS NULL OR used_at <= ${at - everyMs})`);
    },
    async onlyUnused() {
      const [only, other] = await db.apiKey.findMany({ take: 2 });
      return only && !other && only.usedAt === null && only.revokedAt === null ? only.digest : null;
    },
    async giveEnterprise(spaceId, from, to) {
      await db.apiKey.updateMany({ where: { spaceId, accountId: from, kind: { not: "general" } }, data: { accountId: to } });
    },
  };
}

const living = (now: number) => ({ revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] });

/** Null for a key in a team's space whose holder never was a member, or is no more: it opens nothing. */
function holderOf(row: HolderRow): KeyHolder | null {
  const [role, status] = row.membership?.split(" ") ?? [];
  const member = role === undefined ? null : { role: role as Role, status: status as MemberStatus };
  if (row.locale === null || (member === null && row.space_kind !== "personal")) return null;
  const key = {
    id: row.id,
    accountId: row.account_id,
    spaceId: row.space_id,
    kind: row.kind as KeyKind,
    name: row.name,
    digest: row.digest,
    createdAt: numberOf(row.created_at),
    expiresAt: numberOrNull(row.expires_at),
    revokedAt: numberOrNull(row.revoked_at),
    usedAt: numberOrNull(row.used_at),
  };
  return { key, locale: row.locale, member };
}

const keyOf = ({ kind, createdAt, expiresAt, revokedAt, usedAt, ...key }: Rows.ApiKey): UsedKey => ({
  ...key,
  // It was written as such by this program.
  kind: kind as KeyKind,
  createdAt: numberOf(createdAt),
  expiresAt: numberOrNull(expiresAt),
  revokedAt: numberOrNull(revokedAt),
  usedAt: numberOrNull(usedAt),
});
