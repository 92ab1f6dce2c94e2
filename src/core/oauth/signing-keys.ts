import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { type Ids, isShort } from "../ids.ts";
import type { Store } from "../store.ts";
import { accessMs } from "./access-token.ts";
import type { SigningKey } from "./signing-key.ts";

/** The one algorithm of access tokens (RFC 9068 2.1). */
export const algorithm = "ES256";
/** A new key takes over after so long. */
const rotateMs = 90 * 24 * 3_600_000;
/** The old one is published a day longer than its last token may live (contract/oauth.md 13). */
const retireMs = accessMs + 24 * 3_600_000;
/** A `kid` that nobody knows may be another node's new key: the store is asked, no sooner than this after the last time, whoever forges how many. */
const lookEveryMs = 100;

/** A key that signs now. */
export interface Signing {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The installation's keys for access tokens. Keys never change: what was read once is kept. */
export interface SigningKeys {
  /** The newest; made where there is none that is young enough. */
  signing(): Promise<Signing>;
  /** The public half of a key; null for none of ours. */
  verifying(kid: string): Promise<CryptoKey | null>;
  /** Public JWKs of all that may have signed a token that lives. */
  published(): Promise<JWK[]>;
  /** Forgets keys whose time is over. */
  retire(): Promise<void>;
}

interface Parts {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

export function signingKeys({ store, cipher, clock, ids }: Parts): SigningKeys {
  const known = new Map<string, CryptoKey>();
  const look = looker(store, clock, known);
  let newest: (Signing & { readonly createdAt: number }) | undefined;
  let renewing: Promise<Signing> | undefined;

  const isYoung = ({ createdAt }: Pick<SigningKey, "createdAt">) => clock.now() - createdAt < rotateMs;

  async function renew(): Promise<Signing> {
    const [found] = await store.signingKeys.list();
    const row = found && isYoung(found) ? found : await make();
    const jwk = JSON.parse(Buffer.from(cipher.open(row.privateKey, contextOf(row.id))).toString()) as JWK; // sealed by us
    known.set(row.id, await keyOf(jwkOf(row)));
    newest = { kid: row.id, key: await keyOf(jwk), createdAt: row.createdAt };
    return newest;
  }

  /** Whoever comes second takes the first one's. */
  async function make(): Promise<SigningKey> {
    const draft = await newKey();
    return store.change(async (tx) => {
      await tx.signingKeys.lock();
      const [found] = await tx.signingKeys.list();
      if (found && isYoung(found)) return found;
      await tx.signingKeys.insert(draft);
      return draft;
    });
  }

  async function newKey(): Promise<SigningKey> {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const id = ids.short();
    const sealed = cipher.seal(Buffer.from(JSON.stringify(await exportJWK(pair.privateKey))), contextOf(id));
    const publicKey = { ...(await exportJWK(pair.publicKey)), kid: id, alg: algorithm, use: "sig" };
    return { id, publicKey: JSON.stringify(publicKey), privateKey: sealed, createdAt: clock.now() };
  }

  async function signing(): Promise<Signing> {
    if (newest && isYoung(newest)) return newest;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    signing,
    async verifying(kid) {
      if (!known.has(kid) && isShort(kid)) await look();
      return known.get(kid) ?? null;
    },
    async published() {
      await signing();
      const rows = await store.signingKeys.list();
      return rows.filter((_, at) => !isRetired(rows, at, clock.now())).map(jwkOf);
    },
    async retire() {
      const rows = await store.signingKeys.list();
      for (const [at, { id }] of rows.entries())
        if (isRetired(rows, at, clock.now())) await store.change((tx) => tx.signingKeys.remove(id));
    },
  };
}

/** Reads the keys that others have made; those who ask at the same time share it, and those who ask too soon wait for their turn. */
function looker(store: Store, clock: Clock, known: Map<string, CryptoKey>): () => Promise<void> {
  let next = 0;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const wait = next - clock.monotonic();
    if (wait > 0) await clock.sleep(wait);
    next = clock.monotonic() + lookEveryMs;
    for (const row of await store.signingKeys.list()) if (!known.has(row.id)) known.set(row.id, await keyOf(jwkOf(row)));
  }
  return () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}

/** The key after it took over so long ago that nothing it signed lives. */
function isRetired(newestFirst: readonly SigningKey[], at: number, now: number): boolean {
  const successor = newestFirst[at - 1];
  return successor !== undefined && successor.createdAt + retireMs <= now;
}

const contextOf = (id: string): string => `signing_key:${id}`;

const jwkOf = ({ publicKey }: SigningKey): JWK => JSON.parse(publicKey) as JWK; // written by us

/** ES256 keys are never bytes. */
const keyOf = async (jwk: JWK): Promise<CryptoKey> => (await importJWK(jwk, algorithm)) as CryptoKey;
