import { loadConfig } from "../src/config.ts";
import { firstStart } from "../src/core/accounts/first-start.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { keyDigest } from "../src/core/keys/api-key.ts";
import { openInstallation } from "../src/installation.ts";

/** Whose tasks they are, as rows name it. */
export interface Owner {
  readonly accountId: string;
  readonly spaceId: string;
  readonly keyId: string;
  /** Of the key. */
  readonly digest: string;
}

/** A database after its first start: it has an account, and that account a key. */
export interface Installed {
  /** The variables that lead a server to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  /** The key's text. */
  readonly key: string;
  readonly owner: Owner;
}

/** Makes what the first start of a server would make. */
export async function install(env: Readonly<Record<string, string>>): Promise<Installed> {
  const config = loadConfig(env);
  let key: string | null = null;
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
  const { store } = await openInstallation(config, outside, async (tx) => {
    key = await firstStart(tx, { now: systemClock.now(), ids: systemIds, random: systemRandom }, config.ownerEmail);
  });
  try {
    const digest = keyDigest(key ?? "");
    const holder = await store.keys.holder(digest);
    if (key === null || holder === null) throw new Error("the database is in use already");
    const { accountId, spaceId, id: keyId } = holder.key;
    return { env, databaseUrl: config.databaseUrl, key, owner: { accountId, spaceId, keyId, digest } };
  } finally {
    await store.close();
  }
}
