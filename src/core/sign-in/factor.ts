import { purging } from "../processes/timed-job.ts";
export const passkeysMax = 20;

/** A passkey of an account: signing in with it needs no password. */
export interface Passkey {
  readonly id: string;
  readonly accountId: string;
  /** base64url. */
  readonly credentialId: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** 32 random bytes in base64url, the same for all passkeys of the account. */
  readonly userHandle: string;
  readonly name: string;
  /** The last signature counter; 0 for authenticators without one. */
  readonly counter: number;
  readonly createdAt: number;
  readonly usedAt: number | null;
}

/** The authenticator app of an account: it gives the code of the second step after a password or a link. */
export interface Authenticator {
  readonly accountId: string;
  /** Encrypted with the context `authenticatorContext`. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** The time step of the last accepted code. */
  readonly lastStep: number;
  readonly createdAt: number;
}

export const authenticatorContext = (accountId: string): string => `authenticator ${accountId}`;

/** What accounts sign in with in addition to passwords, as rows. */
export interface FactorRows {
  /** Oldest first. */
  passkeys(accountId: string): Promise<readonly Passkey[]>;
  findPasskey(credentialId: string): Promise<Passkey | null>;
  /** False when a passkey with this `credentialId` exists. */
  insertPasskey(passkey: Passkey): Promise<boolean>;
  /** False when the account has no such passkey. */
  renamePasskey(accountId: string, id: string, name: string): Promise<boolean>;
  /** False when the account has no such passkey. */
  removePasskey(accountId: string, id: string): Promise<boolean>;
  /**
   * Records a use; false when the counter is not larger than the stored one, except when both are 0, and for
   * an unknown passkey.
   */
  recordPasskeyUse(id: string, counter: number, at: number): Promise<boolean>;
  authenticator(accountId: string): Promise<Authenticator | null>;
  /** False when the account has one. */
  insertAuthenticator(authenticator: Authenticator): Promise<boolean>;
  /** False when the account has none. */
  removeAuthenticator(accountId: string): Promise<boolean>;
  /**
   * Accepts the code of a time step; false when a code of this step or a later one was accepted. Of
   * concurrent callers one succeeds.
   */
  useStep(accountId: string, step: number): Promise<boolean>;
  /** Deletes the codes of the account, and inserts these. */
  replaceRecoveryCodes(accountId: string, digests: readonly string[], now: number): Promise<void>;
  /** Deletes a code; false when the account does not have it. Of concurrent callers one succeeds. */
  useRecoveryCode(accountId: string, digest: string): Promise<boolean>;
  countRecoveryCodes(accountId: string): Promise<number>;
  /** Marks a ticket as used until it expires; false when it was used. Of concurrent callers one succeeds. */
  spend(digest: string, expiresAt: number): Promise<boolean>;
  /** Those that expired before the given time. */
  purgeTickets(before: number): Promise<void>;
}

export const purgeTickets = purging("purge-tickets", (tx, now) => tx.factors.purgeTickets(now));
