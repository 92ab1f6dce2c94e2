/** A key that signs access tokens, as it is kept. */
export interface SigningKey {
  /** `kid`. */
  readonly id: string;
  /** A public JWK as JSON. */
  readonly publicKey: string;
  /** The private JWK as JSON, sealed. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  readonly createdAt: number;
}

export interface SigningKeyRows {
  /** Newest first. */
  list(): Promise<SigningKey[]>;
  /** Keeps others from making a key until the change ends. */
  lock(): Promise<void>;
  insert(key: SigningKey): Promise<void>;
  remove(id: string): Promise<void>;
}
