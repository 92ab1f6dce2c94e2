import type { FactorRows } from "../../core/sign-in/factor.ts";
import type { Session } from "../session.ts";
import { sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";

const { passkey, authenticator, recoveryCode, spentTicket } = tables;

/** Passkeys, authenticator apps, recovery codes and used tickets as rows. */
export function factorRows(session: Session): FactorRows {
  const { execute } = session;
  return {
    passkeys: (accountId) =>
      passkey.rows(session)(sql`
        SELECT ${passkey.of("p")} FROM passkey p WHERE p.account_id = ${accountId} ORDER BY p.created_at, p.id`),
    findPasskey: (credentialId) =>
      passkey.row(session)(
        sql`SELECT ${passkey.of("p")} FROM passkey p WHERE p.credential_id = ${credentialId}`,
      ),
    insertPasskey: async (row) => (await execute(sql`${passkey.insert(row)} ON CONFLICT DO NOTHING`)) === 1,
    renamePasskey: async (accountId, id, name) =>
      (await execute(
        sql`UPDATE passkey SET name = ${name} WHERE id = ${id} AND account_id = ${accountId}`,
      )) === 1,
    removePasskey: async (accountId, id) =>
      (await execute(sql`DELETE FROM passkey WHERE id = ${id} AND account_id = ${accountId}`)) === 1,
    async recordPasskeyUse(id, counter, at) {
      const isNext = counter === 0 ? sql`counter = 0` : sql`counter < ${counter}`;
      return (
        (await execute(
          sql`UPDATE passkey SET counter = ${counter}, used_at = ${at} WHERE id = ${id} AND ${isNext}`,
        )) === 1
      );
    },
    authenticator: (accountId) =>
      authenticator.row(session)(
        sql`SELECT ${authenticator.of("a")} FROM authenticator a WHERE a.account_id = ${accountId}`,
      ),
    insertAuthenticator: async (row) =>
      (await execute(sql`${authenticator.insert(row)} ON CONFLICT DO NOTHING`)) === 1,
    removeAuthenticator: async (accountId) =>
      (await execute(sql`DELETE FROM authenticator WHERE account_id = ${accountId}`)) === 1,
    useStep: async (accountId, step) =>
      (await execute(
        sql`UPDATE authenticator SET last_step = ${step} WHERE account_id = ${accountId} AND last_step < ${step}`,
      )) === 1,
    async replaceRecoveryCodes(accountId, digests, createdAt) {
      await execute(sql`DELETE FROM recovery_code WHERE account_id = ${accountId}`);
      if (digests.length > 0)
        await execute(recoveryCode.insertAll(digests.map((digest) => ({ digest, accountId, createdAt }))));
    },
    useRecoveryCode: async (accountId, digest) =>
      (await execute(
        sql`DELETE FROM recovery_code WHERE digest = ${digest} AND account_id = ${accountId}`,
      )) === 1,
    countRecoveryCodes: (accountId) =>
      countRows(session, sql`FROM recovery_code c WHERE c.account_id = ${accountId}`),
    spend: async (digest, expiresAt) =>
      (await execute(sql`${spentTicket.insert({ digest, expiresAt })} ON CONFLICT DO NOTHING`)) === 1,
    async purgeTickets(before) {
      await execute(sql`DELETE FROM spent_ticket WHERE expires_at < ${before}`);
    },
  };
}
