import type { ClientRows } from "../../core/oauth/client.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type { Session } from "../session.ts";
import { sql, type Truth, truthOf, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";

interface ClientRow {
  readonly client_id: string;
  readonly space_id: string;
  readonly scopes: string;
  readonly confidential_only: Truth;
  readonly deleted_at: Whole | null;
  /** Of each active secret, a space between; null where there is none. */
  readonly digests: string | null;
}

/** Apps as the OAuth endpoints judge them, as rows. */
export const clientRows = ({ query }: Session): ClientRows => ({
  async find(clientId) {
    // Not by a join: on SQLite every column of a join costs several times as much.
    const [row] = await query<ClientRow>(sql`
      SELECT p.client_id, p.space_id, p.scopes, p.confidential_only, p.deleted_at,
        (SELECT string_agg(s.digest, ' ') FROM oauth_secret s WHERE s.client_id = p.client_id AND s.revoked_at IS NULL) AS digests
      FROM oauth_app p WHERE p.client_id = ${clientId}`);
    if (row === undefined) return null;
    return {
      clientId: row.client_id,
      spaceId: row.space_id,
      scopes: textsIn(row.scopes).filter(isScope),
      confidentialOnly: truthOf(row.confidential_only),
      deleted: row.deleted_at !== null,
      secretDigests: row.digests?.split(" ") ?? [],
    };
  },
});
