import type { SigningKeyRows } from "../../core/oauth/signing-key.ts";
import { changeOf, type Session } from "../session.ts";
import { numberOf, sql } from "../sql.ts";

/** Keys that sign access tokens as rows. */
export function signingKeyRows(session: Session): SigningKeyRows {
  const { db, dialect, execute } = session;
  return {
    async list() {
      const rows = await db.signingKey.findMany({ orderBy: [{ createdAt: "desc" }, { id: "desc" }] });
      return rows.map((row) => ({ ...row, privateKey: Uint8Array.from(row.privateKey), createdAt: numberOf(row.createdAt) }));
    },
    async lock() {
      changeOf(session);
      if (dialect === "postgresql") await execute(sql`LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE`);
    },
    async insert(key) {
      await db.signingKey.create({ data: key });
    },
    async remove(id) {
      await db.signingKey.deleteMany({ where: { id } });
    },
  };
}
