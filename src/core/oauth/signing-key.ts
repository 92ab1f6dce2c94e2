import type { CryptoKey, JWK } from "jose";
import { coalesce, singleFlight } from "../../async/coalesce.ts";
import { lazyPackage } from "../../async/lazy.ts";
import { mutex, type Run } from "../../async/limit.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { type Ids, isShortId } from "../ids.ts";
import { hourMs, type JobNeeds, type TimedJob } from "../processes/timed-job.ts";
import type { Store } from "../store.ts";
import { accessMs } from "./access-token.ts";

interface SigningKey {
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
  /** Prevents other changes from creating a key until this one ends. */
  lock(): Promise<void>;
  insert(key: SigningKey): Promise<void>;
  remove(id: string): Promise<void>;
}

const jose = lazyPackage<typeof import("jose")>("jose");
/** The only algorithm of access tokens (RFC 9068 2.1). */
export const algorithm = "ES256";
/** A new key replaces the signing key after 90 days. */
const rotateMs = 90 * 24 * 3_600_000;
/** The old key stays published one day longer than its last token is valid (spec/oauth.md 13). */
const retireMs = accessMs + 24 * 3_600_000;
/**
 * An unknown `kid` may be another node's new key. Reads of the store are at least 100 ms apart, so that
 * forged `kid`s cause little load.
 */
const lookEveryMs = 100;

export interface CurrentSigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

/**
 * The installation's keys for access tokens. A key never changes, so each is read once and kept in memory.
 */
export interface SigningKeys {
  /** The newest key; created when there is none younger than 90 days. */
  current(): Promise<CurrentSigningKey>;
  /** The public key; null when it is not a key of this installation. */
  publicKey(kid: string): Promise<CryptoKey | null>;
  /** Public JWKs of all keys that may have signed a token that is still valid. */
  listPublicKeys(): Promise<JWK[]>;
  /** Deletes keys whose tokens have all expired. */
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
  const readNew = keyReader(store, clock, known);
  let newest: (CurrentSigningKey & { createdAt: number }) | undefined;

  const isYoung = ({ createdAt }: Pick<SigningKey, "createdAt">) => clock.now() - createdAt < rotateMs;

  const renew = singleFlight(async (): Promise<CurrentSigningKey> => {
    const [found] = await store.signingKeys.list();
    const row = found && isYoung(found) ? found : await createKey();
    const jwk = JSON.parse(
      Buffer.from(cipher.open(row.privateKey, signingKeyContext(row.id))).toString(),
    ) as JWK; // sealed by us
    known.set(row.id, await importKey(parseJwk(row)));
    newest = { kid: row.id, key: await importKey(jwk), createdAt: row.createdAt };
    return newest;
  });

  /** Inserts a key; returns the other process's key if that was inserted first. */
  async function createKey(): Promise<SigningKey> {
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
    const { exportJWK, generateKeyPair } = jose();
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const id = ids.short();
    const sealed = cipher.seal(
      Buffer.from(JSON.stringify(await exportJWK(pair.privateKey))),
      signingKeyContext(id),
    );
    const publicKey = { ...(await exportJWK(pair.publicKey)), kid: id, alg: algorithm, use: "sig" };
    return { id, publicKey: JSON.stringify(publicKey), privateKey: sealed, createdAt: clock.now() };
  }

  async function signing(): Promise<CurrentSigningKey> {
    return newest && isYoung(newest) ? newest : renew();
  }

  return {
    current: signing,
    async publicKey(kid) {
      if (!known.has(kid) && isShortId(kid)) await readNew();
      return known.get(kid) ?? null;
    },
    async listPublicKeys() {
      await signing();
      const rows = await store.signingKeys.list();
      return rows.filter((_, at) => !isRetired(rows, at, clock.now())).map(parseJwk);
    },
    async retire() {
      const rows = await store.signingKeys.list();
      for (const [at, { id }] of rows.entries())
        if (isRetired(rows, at, clock.now())) await store.change((tx) => tx.signingKeys.remove(id));
    },
  };
}

/** Reads the keys of other processes, at most once in `lookEveryMs`. */
function keyReader(store: Store, clock: Clock, known: Map<string, CryptoKey>): () => Promise<void> {
  let next = 0;
  const exclusive = mutex();

  async function read(): Promise<void> {
    for (const row of await store.signingKeys.list())
      if (!known.has(row.id)) known.set(row.id, await importKey(parseJwk(row)));
  }
  const limitRate: Run = (work) =>
    exclusive(async () => {
      const wait = next - clock.monotonic();
      if (wait > 0) await clock.sleep(wait);
      next = clock.monotonic() + lookEveryMs;
      return work();
    });
  return coalesce(read, limitRate);
}

/** True when the successor is old enough that every token signed with this key has expired. */
function isRetired(newestFirst: readonly SigningKey[], at: number, now: number): boolean {
  const successor = newestFirst[at - 1];
  return successor !== undefined && successor.createdAt + retireMs <= now;
}

/** Binds a sealed private key to its row. */
export const signingKeyContext = (id: string): string => `signing_key:${id}`;

const parseJwk = ({ publicKey }: SigningKey): JWK => JSON.parse(publicKey) as JWK; // written by us

/** An imported ES256 key is a CryptoKey, never bytes. */
const importKey = async (jwk: JWK): Promise<CryptoKey> =>
  (await jose().importJWK(jwk, algorithm)) as CryptoKey;

/** Deletes keys of signatures that no valid token has. */
export const retireSigningKeys: TimedJob<JobNeeds & { signingKeys: Pick<SigningKeys, "retire"> }> = {
  name: "retire-signing-keys",
  every: hourMs,
  once: true,
  run: ({ signingKeys }) => signingKeys.retire(),
};
