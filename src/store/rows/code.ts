import type { CodeRows, IssuedCode } from "../../core/oauth/code.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type { Session } from "../session.ts";
import { insertInto, numberOf, numberOrNull, sql, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";
import { ofGrants } from "./grant.ts";

interface CodeRow {
  readonly digest: string;
  readonly client_id: string;
  readonly grant_id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly redirect_uri: string;
  readonly scopes: string;
  readonly challenge: string | null;
  readonly generation: Whole;
  readonly created_at: Whole;
  readonly expires_at: Whole;
  readonly used_at: Whole | null;
  readonly family_id: string | null;
}

/** Authorization codes as rows. */
export function codeRows({ query, execute }: Session): CodeRows {
  return {
    async insert({ digest, challenge, generation, scopes, ...code }) {
      const row = {
        ...{ digest, challenge, generation },
        client_id: code.clientId,
        grant_id: code.grantId,
        account_id: code.accountId,
        space_id: code.spaceId,
        redirect_uri: code.redirectUri,
        scopes: JSON.stringify(scopes),
        created_at: code.createdAt,
        expires_at: code.expiresAt,
      };
      await execute(insertInto("oauth_code", [row]));
    },
    async find(digest) {
      const [row] = await query<CodeRow>(sql`
        SELECT digest, client_id, grant_id, account_id, space_id, redirect_uri, scopes, challenge, generation,
          created_at, expires_at, used_at, family_id
        FROM oauth_code WHERE digest = ${digest}`);
      return row ? codeOf(row) : null;
    },
    async use(digest, familyId, now) {
      const count = await execute(sql`
        UPDATE oauth_code SET used_at = ${now}, family_id = ${familyId} WHERE digest = ${digest} AND used_at IS NULL`);
      return count === 1;
    },
    async useUpOf(accountId, spaceId, now) {
      await execute(sql`UPDATE oauth_code SET used_at = ${now} WHERE ${ofGrants(accountId, spaceId)} AND used_at IS NULL`);
    },
    purge: (before) => execute(sql`DELETE FROM oauth_code WHERE expires_at < ${before}`),
  };
}

const codeOf = (row: CodeRow): IssuedCode => ({
  digest: row.digest,
  clientId: row.client_id,
  grantId: row.grant_id,
  accountId: row.account_id,
  spaceId: row.space_id,
  redirectUri: row.redirect_uri,
  scopes: textsIn(row.scopes).filter(isScope),
  challenge: row.challenge,
  generation: numberOf(row.generation),
  createdAt: numberOf(row.created_at),
  expiresAt: numberOf(row.expires_at),
  usedAt: numberOrNull(row.used_at),
  familyId: row.family_id,
});
