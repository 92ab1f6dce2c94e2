import { createHash } from "node:crypto";
import type { Making } from "../keys/make-key.ts";
import type { OAuthSecret } from "./app.ts";

/** What is stored of a client secret: it has 256 random bits, so a plain hash is enough. Lower-case hex. */
export const secretDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A new secret of an app, and its text, `secret_` and 43 characters: nobody can show that again (contract/oauth.md 13). */
export function newSecret({ now, ids, random }: Making, clientId: string): { readonly secret: OAuthSecret; readonly text: string } {
  const text = `secret_${Buffer.from(random(32)).toString("base64url")}`;
  return { secret: { id: ids.short(), clientId, digest: secretDigest(text), last4: text.slice(-4), createdAt: now }, text };
}
