import type { SigningKeyRows } from "../../core/oauth/signing-key.ts";
import { changeOf, type Session } from "../session.ts";
import { sql } from "../statements.ts";
import { tables } from "../table.ts";

const { signingKey } = tables;

/** The signing keys of access tokens, as rows. */
export function signingKeyRows(session: Session): SigningKeyRows {
  const { dialect, execute } = session;
  return {
    list: () =>
      signingKey.rows(session)(
        sql`SELECT ${signingKey.of("signing_key")} FROM signing_key ORDER BY created_at DESC, id DESC`,
      ),
    async lock() {
      changeOf(session);
      if (dialect === "postgresql") await execute(sql`LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE`);
    },
    async insert(key) {
      await execute(signingKey.insert(key));
    },
    async remove(id) {
      await execute(sql`DELETE FROM signing_key WHERE id = ${id}`);
    },
  };
}
