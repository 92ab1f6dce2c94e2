import { createHash, timingSafeEqual } from "node:crypto";
import type { ScopeName } from "./scope.ts";

/** An app as its own requests are judged by. */
export interface OAuthClient {
  readonly clientId: string;
  readonly spaceId: string;
  readonly scopes: readonly ScopeName[];
  readonly confidentialOnly: boolean;
  readonly deleted: boolean;
  /** SHA-256 of each active secret, lower-case hex. */
  readonly secretDigests: readonly string[];
}

/** A client, and whether it has proven by a secret to be it. */
export interface ProvenClient {
  readonly client: OAuthClient;
  readonly bySecret: boolean;
}

export interface ClientRows {
  /** One statement: the app, deleted ones too, with its active secrets. */
  find(clientId: string): Promise<OAuthClient | null>;
}

/** True for what can be a client's id (contract/oauth.md 7). */
export const isClientId = (text: string): boolean => /^[A-Za-z0-9_-]{1,200}$/.test(text);

/** Whether a secret is one of a client's active ones; every one is compared, each in constant time. */
export function isSecretOf(client: OAuthClient | null, secret: string): boolean {
  const shown = createHash("sha256").update(secret).digest();
  const matches = (client?.secretDigests ?? []).map((digest) => timingSafeEqual(shown, sized(Buffer.from(digest, "hex"))));
  return matches.includes(true);
}

/** A digest that is none fits nothing, and throws nothing. */
const sized = (digest: Buffer): Buffer => (digest.length === 32 ? digest : Buffer.alloc(32));
