import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError } from "./config.ts";
import { ensureDefaultAgents } from "./core/agents/default-agent.ts";
import { type Cipher, cipherFrom } from "./core/cipher.ts";
import type { Clock } from "./core/clock.ts";
import type { Ids, Random } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { Store, Tx } from "./core/store.ts";
import { encryptionKey, existingKey } from "./encryption-key.ts";
import { makeFolder } from "./store/folder.ts";
import { openStore } from "./store/open.ts";
import { pathOf, placeOf } from "./store/place.ts";

/** What the outside gives to a process: time, chance and a log. Tests give their own. */
export interface Surroundings {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Log;
}

/** An installation's data, open: its database is up to date and belongs to its key. */
export interface Installation {
  readonly store: Store;
  readonly cipher: Cipher;
}

/**
 * Opens the data folder and the database for a server, and makes what is not there yet.
 *
 * @param first runs in a change while other processes that start wait, before anything else is written.
 * @throws ConfigError when the database was begun under another encryption key; Failure when folder or database
 * cannot be opened, in a sentence for operators.
 */
export async function openInstallation(config: Config, outside: Surroundings, first: (tx: Tx) => Promise<void>): Promise<Installation> {
  makeFolder(config.dataDir, "DATA_DIR");
  const cipher = cipherFrom(await encryptionKey(config, outside.random), outside.random);
  return { store: await openStore({ ...storeOptions(config, outside), prepare: preparation(outside, cipher, first) }), cipher };
}

/**
 * Opens an installation that is there, for a command: nothing is made.
 *
 * @throws ConfigError when there is none, with what was looked for; else as `openInstallation`.
 */
export async function openExisting(config: Config, outside: Surroundings): Promise<Installation> {
  const ifMissing = new ConfigError([
    { variable: "DATA_DIR", text: `no installation in ${installationPlace(config)}; set DATA_DIR or DATABASE_URL` },
  ]);
  if (config.database === "sqlite" && !existsSync(pathOf(config.databaseUrl))) throw ifMissing;
  // A database may be migrated and have no account yet.
  const prepare = async ({ accounts }: Store) => {
    if ((await accounts.firstTeam()) === null) throw ifMissing;
  };
  const store = await openStore({ ...storeOptions(config, outside), prepare, ifMissing });
  try {
    const cipher = cipherFrom(await existingKey(config), outside.random);
    await preparation(outside, cipher)(store);
    return { store, cipher };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** Where an installation is, for people: its folder, or its database where that is elsewhere. */
export const installationPlace = ({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">): string =>
  databaseUrl === `file:${join(dataDir, "platform.db")}` ? dataDir : placeOf(databaseUrl);

const storeOptions = ({ databaseUrl }: Config, { clock, random, log }: Surroundings) => ({ databaseUrl, clock, random, log });

/** What is done in a database that was just opened, in one change. */
const preparation =
  ({ clock, ids }: Surroundings, cipher: Cipher, first?: (tx: Tx) => Promise<void>) =>
  (store: Store) =>
    store.change(async (tx) => {
      await checkKey(tx, cipher);
      await first?.(tx);
      await ensureDefaultAgents(tx, { now: clock.now(), ids });
    });

const checkName = "encryption-key-check";

/** A node whose key differs from that of the database stops before it writes (contract/decisions.md 22). */
async function checkKey(tx: Tx, cipher: Cipher): Promise<void> {
  const known = await tx.settings.get(checkName);
  if (known === null) await tx.settings.put(checkName, cipher.check);
  else if (known !== cipher.check)
    throw new ConfigError([{ variable: "ENCRYPTION_KEY", text: "ENCRYPTION_KEY is not the key that this database was begun with" }]);
}
