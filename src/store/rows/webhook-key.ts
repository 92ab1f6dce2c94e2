import type { WebhookKeyAlgorithm, WebhookKeyRows } from "../../core/webhooks/key.ts";
import { changeOf, type Session } from "../session.ts";
import { insertInto, numberOf, sql } from "../sql.ts";

/** Pairs that deliveries are signed with, as rows. */
export function webhookKeyRows(session: Session): WebhookKeyRows {
  const { db, execute } = session;
  return {
    async find(algorithm) {
      const row = await db.webhookKey.findFirst({ where: { algorithm } });
      if (row === null) return null;
      return {
        ...row,
        algorithm: row.algorithm as WebhookKeyAlgorithm, // written as such by this program
        privateKey: Uint8Array.from(row.privateKey),
        createdAt: numberOf(row.createdAt),
      };
    },
    async insert({ id, algorithm, publicKey, privateKey, createdAt }) {
      changeOf(session);
      const row = { id, algorithm, public_key: publicKey, private_key: privateKey, created_at: createdAt };
      return (await execute(sql`${insertInto("webhook_key", [row])} ON CONFLICT DO NOTHING`)) === 1;
    },
    async remove(algorithm) {
      await db.webhookKey.deleteMany({ where: { algorithm } });
    },
  };
}
