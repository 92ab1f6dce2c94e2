import type { Cipher } from "../cipher.ts";
import type { Random } from "../ids.ts";

/** Bytes of a signing secret: Standard Webhooks has 24 to 64 (contract/webhooks.md 7). */
const length = 32;

/** A signing secret as it is kept and as it is told, once. */
export interface SigningSecret {
  readonly sealed: Uint8Array<ArrayBuffer>;
  /** `whsec_` and base64. */
  readonly text: string;
}

/** Makes a signing secret for a webhook. */
export function newSigningSecret(
  { cipher, random }: { readonly cipher: Cipher; readonly random: Random },
  webhookId: string,
): SigningSecret {
  const bytes = random(length);
  return { sealed: cipher.seal(bytes, signingSecretContext(webhookId)), text: `whsec_${Buffer.from(bytes).toString("base64")}` };
}

/** What a webhook's secret is sealed for, so that it opens for no other. */
export const signingSecretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;
