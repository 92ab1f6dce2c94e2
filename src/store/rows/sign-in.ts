import type { MemberStatus, Role, Space } from "../../core/accounts/account.ts";
import type { LinkRows } from "../../core/sign-in/link.ts";
import type { MailedLinkRows } from "../../core/sign-in/mailed-link.ts";
import {
  type SessionHolder,
  type SessionRows,
  type SignInRows,
  sessionMs,
} from "../../core/sign-in/sign-in.ts";
import type { Session } from "../session.ts";
import { type Sql, type Statement, sql } from "../statements.ts";
import { boolean, computedShape, type RowOf, tables, text, textOrNull } from "../table.ts";

/** Role and status are null without a membership. */
const memberOf = (role: Role | null, status: MemberStatus | null, delegated: boolean) =>
  role === null || status === null ? null : { role, status, delegated };

const holder = tables.session
  .with({
    locale: text(sql`a.locale`),
    email: text(sql`a.email`),
    name: textOrNull(sql`a.name`),
    operator: boolean(sql`a.operator`),
    teamName: textOrNull(sql`t.name`),
    spaceKind: text<Space["kind"]>(sql`c.kind`),
    role: textOrNull<Role>(sql`m.role`),
    status: textOrNull<MemberStatus>(sql`m.status`),
    delegated: boolean(sql`(m.delegated_to IS NOT NULL)`),
  })
  .derive("member", ["role", "status", "delegated"], memberOf);

/** An active membership sorts before the tombstones of earlier ones. */
const holding = (condition: Sql): Sql => sql`
  SELECT ${holder.of("s")}
  FROM session s JOIN account a ON a.id = s.account_id JOIN space c ON c.id = s.space_id
  LEFT JOIN team t ON t.space_id = s.space_id
  LEFT JOIN membership m ON m.space_id = s.space_id AND m.account_id = s.account_id
  WHERE ${condition}
  ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1`;

const ownSession = tables.session
  .pick("id", "createdAt", "expiresAt")
  .with({ teamName: textOrNull(sql`t.name`) });

export function sessionRows(session: Session): SessionRows {
  const { execute } = session;
  async function findHolder(statement: Statement): Promise<SessionHolder | null> {
    const row = await holder.row(session)(statement);
    return row && holderOf(row);
  }
  return {
    async insert(row) {
      await execute(tables.session.insert(row));
    },
    holder: (digest) => findHolder(holding(sql`s.digest = ${digest}`)),
    holderById: (id) => findHolder(holding(sql`s.id = ${id}`)),
    async renew(id, expiresAt, notAfter) {
      await execute(
        sql`UPDATE session SET expires_at = ${expiresAt} WHERE id = ${id} AND expires_at <= ${notAfter}`,
      );
    },
    async recordUse(id, at, everyMs) {
      const expiresAt = at + sessionMs;
      await execute(sql`
        UPDATE session SET expires_at = ${expiresAt} WHERE id = ${id} AND expires_at > ${at} AND expires_at <= ${expiresAt - everyMs}`);
    },
    async recordProof(id, provedAt) {
      await execute(sql`UPDATE session SET proved_at = ${provedAt} WHERE id = ${id}`);
    },
    async move({ id, accountId }, { from, to }, now) {
      const moved = await execute(sql`
        UPDATE session SET space_id = ${to}
        WHERE id = ${id} AND account_id = ${accountId} AND space_id = ${from} AND expires_at > ${now}`);
      return moved === 1;
    },
    async end(id) {
      await execute(sql`DELETE FROM session WHERE id = ${id}`);
    },
    listOwn: (accountId, now, max) =>
      ownSession.rows(session)(sql`
        SELECT ${ownSession.of("s")} FROM session s LEFT JOIN team t ON t.space_id = s.space_id
        WHERE s.account_id = ${accountId} AND s.expires_at > ${now} ORDER BY s.created_at DESC, s.id LIMIT ${max}`),
    async endOwn(accountId, id, now) {
      return (
        (await execute(
          sql`DELETE FROM session WHERE id = ${id} AND account_id = ${accountId} AND expires_at > ${now}`,
        )) === 1
      );
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

function holderOf({
  locale,
  email,
  name,
  operator,
  teamName,
  spaceKind,
  member,
  ...session
}: RowOf<typeof holder>): SessionHolder | null {
  return member === null && spaceKind !== "personal"
    ? null
    : { session, locale, email, name, operator, teamName, member };
}

/** Sessions end, so memberships, passwords and identities count too. */
const hasSignIns = sql`(
  EXISTS (SELECT 1 FROM session) OR EXISTS (SELECT 1 FROM membership WHERE signed_in_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM passkey)
  OR EXISTS (SELECT 1 FROM account WHERE password IS NOT NULL OR issuer IS NOT NULL))`;
const signIns = computedShape({ any: boolean(hasSignIns) });

const proof = tables.account.pick("id", "password", "issuer", "subject");
const spaceChoice = computedShape({
  spaceId: text(sql`c.id`),
  name: textOrNull(sql`t.name`),
  memberId: textOrNull(sql`m.id`),
  role: textOrNull<Role>(sql`m.role`),
}).derive("team", ["name", "memberId", "role"], (name, memberId, role) =>
  name === null || memberId === null || role === null ? null : { name, memberId, role },
);

/** The proofs of an account's identity, as rows: password, and identity at a provider. */
export function signInRows(session: Session): SignInRows {
  const { db, execute } = session;
  async function account(
    where: { readonly id: string } | { readonly issuer: string; readonly subject: string },
  ) {
    const row = await (await db()).account.findFirst({ where });
    return row && proof.fromClient(row);
  }
  return {
    password: async (id) => (await account({ id }))?.password ?? null,
    async setPassword(accountId, stored) {
      await execute(sql`UPDATE account SET password = ${stored} WHERE id = ${accountId}`);
    },
    async identity(id) {
      const { issuer = null, subject = null } = (await account({ id })) ?? {};
      return issuer && subject ? { issuer, subject } : null;
    },
    findByIdentity: async ({ issuer, subject }) => (await account({ issuer, subject }))?.id ?? null,
    async bindIdentity(accountId, { issuer, subject }) {
      const bound = await execute(
        sql`UPDATE account SET issuer = ${issuer}, subject = ${subject} WHERE id = ${accountId} AND issuer IS NULL`,
      );
      return bound === 1;
    },
    listSpaces: (accountId) =>
      spaceChoice.rows(session)(sql`
        SELECT ${spaceChoice.of("c")}
        FROM space c LEFT JOIN team t ON t.space_id = c.id
        LEFT JOIN membership m ON m.space_id = c.id AND m.account_id = ${accountId} AND m.status = 'active' AND m.delegated_to IS NULL
        WHERE c.account_id = ${accountId} OR m.id IS NOT NULL
        ORDER BY CASE WHEN t.name IS NULL THEN 0 ELSE 1 END, t.name`),
    hasSignIns: async () => (await signIns.row(session)(sql`SELECT ${signIns.of("signed")}`))?.any === true,
    async recordFirstSignIn(memberId, now) {
      await execute(
        sql`UPDATE membership SET signed_in_at = ${now} WHERE id = ${memberId} AND signed_in_at IS NULL`,
      );
    },
  };
}

const link = tables.signInLink.pick("digest", "accountId", "spaceId", "createdAt", "expiresAt", "isFirst");

export function linkRows(session: Session): LinkRows {
  const { db, execute } = session;
  const open = { usedAt: null };
  const isOpen = (digest: string, now: number): Sql => sql`
    digest = ${digest} AND used_at IS NULL AND expires_at > ${now} AND (NOT is_first OR NOT ${hasSignIns})`;
  return {
    insert: async (row) => void (await execute(tables.signInLink.insert(row))),
    findOpen: (digest, now) =>
      link.row(session)(
        sql`SELECT ${link.of("sign_in_link")} FROM sign_in_link WHERE ${isOpen(digest, now)}`,
      ),
    use: (digest, now) =>
      link.row(session)(sql`
        UPDATE sign_in_link SET used_at = ${now} WHERE ${isOpen(digest, now)} RETURNING ${link.of("sign_in_link")}`),
    async listOpen(accountId, now) {
      const where = { accountId, ...open, expiresAt: { gt: now } };
      const orderBy = [{ createdAt: "desc" as const }, { digest: "asc" as const }];
      return (await (await db()).signInLink.findMany({ where, orderBy })).map(link.fromClient);
    },
    async useUp(accountId, spaceId, now) {
      const where = spaceId === null ? { accountId, ...open } : { accountId, spaceId, ...open };
      await (await db()).signInLink.updateMany({ where, data: { usedAt: now } });
    },
    wasUsedAt: async (accountId, at) =>
      (await (await db()).signInLink.count({ where: { accountId, usedAt: at } })) > 0,
    async purge(before) {
      await execute(sql`DELETE FROM sign_in_link WHERE expires_at < ${before}`);
    },
  };
}

const mailedLink = tables.mailedLink.pick("digest", "accountId", "browser", "next", "expiresAt");

/** Links that people requested by mail, as rows. */
export function mailedLinkRows(session: Session): MailedLinkRows {
  const { db, execute } = session;
  const isOpen = (digest: string, now: number): Sql =>
    sql`digest = ${digest} AND used_at IS NULL AND expires_at > ${now}`;
  return {
    async insert(row) {
      await execute(tables.mailedLink.insert({ ...row, usedAt: null }));
    },
    findOpen: (digest, now) =>
      mailedLink.row(session)(
        sql`SELECT ${mailedLink.of("mailed_link")} FROM mailed_link WHERE ${isOpen(digest, now)}`,
      ),
    use: (digest, browser, now) =>
      mailedLink.row(session)(sql`
        UPDATE mailed_link SET used_at = ${now} WHERE ${isOpen(digest, now)} AND browser = ${browser}
        RETURNING ${mailedLink.of("mailed_link")}`),
    async useUp(accountId, now) {
      await execute(
        sql`UPDATE mailed_link SET used_at = ${now} WHERE account_id = ${accountId} AND used_at IS NULL`,
      );
    },
    wasUsedAt: async (accountId, at) =>
      (await (await db()).mailedLink.count({ where: { accountId, usedAt: at } })) > 0,
    async purge(before) {
      await execute(sql`DELETE FROM mailed_link WHERE expires_at < ${before}`);
    },
  };
}
