/** The algorithms that deliveries are signed by: the contract's own, and that of Standard Webhooks (contract/webhooks.md 5, 7). */
export type WebhookKeyAlgorithm = "rsa" | "ed25519";

/** A pair that deliveries are signed with, as it is kept: one of each algorithm in an installation. */
export interface WebhookKey {
  readonly id: string;
  readonly algorithm: WebhookKeyAlgorithm;
  /** SubjectPublicKeyInfo as PEM. */
  readonly publicKey: string;
  /** PKCS #8 in DER, sealed. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  readonly createdAt: number;
}

/** The pairs as rows. */
export interface WebhookKeyRows {
  find(algorithm: WebhookKeyAlgorithm): Promise<WebhookKey | null>;
  /** False where there is one already: of two that make one, one wins. */
  insert(key: WebhookKey): Promise<boolean>;
  remove(algorithm: WebhookKeyAlgorithm): Promise<void>;
}

/** The public halves of the installation's pairs that deliveries are signed with. */
export interface PublicWebhookKeys {
  /** 2,048 bits, SubjectPublicKeyInfo as PEM. */
  readonly rsaPem: string;
  /** When that pair was made, Unix milliseconds. */
  readonly rsaCreatedAt: number;
  /** Of Standard Webhooks: `whpk_` and base64. */
  readonly ed25519: string;
}

/** Keys that receivers verify deliveries with. */
export interface WebhookKeys {
  publicKeys(): Promise<PublicWebhookKeys>;
}
