import type { Cipher } from "../cipher.ts";
import type { JsonObject } from "../json.ts";

/** What opens a connector's server; kept encrypted, and shown to nobody. */
export type Credentials =
  /** Goes in the header that the server's address names. */
  { readonly kind: "header"; readonly value: string } | OAuthCredentials;

/** An account at the authorization server of a connector. */
export interface OAuthCredentials {
  readonly kind: "oauth";
  /** How we are known there, as it was registered; null: not yet. */
  readonly client: JsonObject | null;
  /** The authorization server that client and tokens are of; empty: none yet. */
  readonly issuer: string;
  /** What RFC 8414 and RFC 9728 say of it, for the refresh. */
  readonly metadata: JsonObject | null;
  readonly resource: string | null;
  readonly tokens: { readonly access: string; readonly refresh: string | null; readonly expiresAt: number | null } | null;
  /** Unix milliseconds: until then somebody renews the tokens, and nobody else does. */
  readonly renewingUntil?: number;
}

/** Nobody has signed in yet. */
export const noTokens: OAuthCredentials = { kind: "oauth", client: null, issuer: "", metadata: null, resource: null, tokens: null };

/** Binds them to their connector, so that they open nothing else. */
const contextOf = (connectorId: string): string => `connector ${connectorId}`;

export const sealCredentials = (cipher: Cipher, connectorId: string, credentials: Credentials): Uint8Array<ArrayBuffer> =>
  cipher.seal(Buffer.from(JSON.stringify(credentials)), contextOf(connectorId));

/** Null where there are none. */
export const openCredentials = (
  cipher: Cipher,
  { id, credentials }: { readonly id: string; readonly credentials: Uint8Array | null },
): Credentials | null =>
  // They were sealed by `sealCredentials`.
  credentials === null ? null : (JSON.parse(Buffer.from(cipher.open(credentials, contextOf(id))).toString()) as Credentials);

/** What a sign-in that is under way comes back to. */
export interface UnderWay {
  readonly verifier: string;
  readonly credentials: OAuthCredentials;
}

const awayContext = (digest: string): string => `connector authorization ${digest}`;

export const sealUnderWay = (cipher: Cipher, digest: string, underWay: UnderWay): Uint8Array<ArrayBuffer> =>
  cipher.seal(Buffer.from(JSON.stringify(underWay)), awayContext(digest));

export const openUnderWay = (cipher: Cipher, digest: string, sealed: Uint8Array): UnderWay =>
  // It was sealed by `sealUnderWay`.
  JSON.parse(Buffer.from(cipher.open(sealed, awayContext(digest))).toString()) as UnderWay;
