import type { Caller } from "../accounts/caller.ts";
import { type SignedCredential, toSignedCredential } from "../accounts/signed-credential.ts";
import type { Cipher } from "../cipher.ts";
import { signedTokens } from "../signed-token.ts";

export const auditFormats = ["ndjson", "ocsf"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/** How long an address is valid. A download that has begun continues. */
export const auditAddressSeconds = 60;

/** What an address allows: one download of a space's log, with the rights of one credential. */
export interface AuditDownloadGrant {
  /** A session that has switched to another space since does not download that space's log. */
  readonly spaceId: string;
  readonly credential: SignedCredential;
  readonly format: AuditFormat;
  /** The request of audit.list with the filters, encoded. */
  readonly request: Uint8Array;
}

/**
 * Addresses that allow their holder to download the audit log without a header: `{base}/audit-log?token=…`
 * (spec/decisions.md 87).
 */
export interface AuditDownloadLinks {
  /** @param until Unix milliseconds. @throws TypeError for a worker. */
  create(caller: Caller, wanted: Pick<AuditDownloadGrant, "format" | "request">, until: number): string;
  /** The grant of a token, which is unchecked text; null for a forged or expired one. */
  read(token: string, now: number): AuditDownloadGrant | null;
}

type Signed = readonly [
  spaceId: string,
  credential: SignedCredential,
  format: AuditFormat,
  request: string,
  until: number,
];

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function auditDownloadLinks(cipher: Pick<Cipher, "createMac">, baseUrl: string): AuditDownloadLinks {
  const tokens = signedTokens<Signed>(cipher, "audit download link");
  return {
    create(caller, { format, request }, until) {
      const text = Buffer.from(request).toString("base64url");
      return `${baseUrl}/audit-log?token=${tokens.create([caller.spaceId, toSignedCredential(caller), format, text, until])}`;
    },
    read(token, now) {
      const signed = tokens.read(token);
      if (signed === null) return null;
      const [spaceId, credential, format, request, until] = signed;
      return now < until ? { spaceId, credential, format, request: Buffer.from(request, "base64url") } : null;
    },
  };
}
