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
