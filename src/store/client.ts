import type { ClientRows } from "../core/oauth/client.ts";
import { isScope } from "../core/oauth/scope.ts";
import { textsIn } from "./app.ts";
import type { Session } from "./session.ts";
import { sql, type Truth, truthOf, type Whole } from "./sql.ts";

interface ClientRow {
  readonly client_id: string;
  readonly space_id: string;
  readonly scopes: string;
  readonly confidential_only: Truth;
  readonly deleted_at: Whole | null;
  readonly digest: string | null;
}

/** Apps as the OAuth endpoints judge them, as rows: one for each active secret. */
export const clientRows = ({ query }: Session): ClientRows => ({
  async find(clientId) {
    const rows = await query<ClientRow>(sql`
      SELECT p.client_id, p.space_id, p.scopes, p.confidential_only, p.deleted_at, s.digest
      FROM oauth_app p LEFT JOIN oauth_secret s ON s.client_id = p.client_id AND s.revoked_at IS NULL
      WHERE p.client_id = ${clientId}`);
    const [row] = rows;
    if (row === undefined) return null;
    return {
      clientId: row.client_id,
      spaceId: row.space_id,
      scopes: textsIn(row.scopes).filter(isScope),
      confidentialOnly: truthOf(row.confidential_only),
      deleted: row.deleted_at !== null,
      secretDigests: rows.flatMap(({ digest }) => digest ?? []),
    };
  },
});
