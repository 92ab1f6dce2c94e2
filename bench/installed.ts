import { loadConfig } from "../src/config/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { keyDigest } from "../src/core/keys/api-key.ts";
import { initializeInstallation } from "../src/core/use-cases/initialize-installation.ts";
import { openInstallation } from "../src/start/installation.ts";

/** The owner of the tasks, as rows store it. */
export interface Owner {
  readonly accountId: string;
  readonly spaceId: string;
  readonly keyId: string;
  /** The key's digest. */
  readonly digest: string;
}

/** A database after its first start: it has an account with a key. */
export interface Installed {
  /** The environment variables for a server on it. */
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  /** The key's text. */
  readonly key: string;
  readonly owner: Owner;
}

/** Creates what the first start of a server creates. */
export async function install(env: Readonly<Record<string, string>>): Promise<Installed> {
  const config = loadConfig(env);
  let key: string | null = null;
  const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
  const { store } = await openInstallation(config, ambient, async (tx) => {
    key = await initializeInstallation(
      tx,
      { now: systemClock.now(), ids: systemIds, random: systemRandom },
      config.ownerEmail,
    );
  });
  try {
    const digest = keyDigest(key ?? "");
    const holder = await store.keys.holder(digest);
    if (key === null || holder === null) throw new Error("the database is already in use");
    const { accountId, spaceId, id: keyId } = holder.key;
    return { env, databaseUrl: config.databaseUrl, key, owner: { accountId, spaceId, keyId, digest } };
  } finally {
    await store.close();
  }
}
