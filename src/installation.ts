import { mkdir } from "node:fs/promises";
import { type Config, ConfigError } from "./config.ts";
import { ensureDefaultAgents } from "./core/agents/default-agent.ts";
import { type Cipher, cipherFrom } from "./core/cipher.ts";
import type { Clock } from "./core/clock.ts";
import type { Ids, Random } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { Store, Tx } from "./core/store.ts";
import { encryptionKey } from "./encryption-key.ts";
import { openStore } from "./store/open.ts";

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
 * Opens the data folder and the database for a server or a command.
 *
 * @param first runs in a change while other processes that start wait, before anything else is written.
 * @throws ConfigError when the database was begun under another encryption key.
 */
export async function openInstallation(
  config: Config,
  { clock, ids, random, log }: Surroundings,
  first: (tx: Tx) => Promise<void>,
): Promise<Installation> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const cipher = cipherFrom(await encryptionKey(config, random), random);
  const prepare = (store: Store) =>
    store.change(async (tx) => {
      await checkKey(tx, cipher);
      await first(tx);
      await ensureDefaultAgents(tx, { now: clock.now(), ids });
    });
  return { store: await openStore({ databaseUrl: config.databaseUrl, clock, random, log, prepare }), cipher };
}

const checkName = "encryption-key-check";

/** A node whose key differs from that of the database stops before it writes (contract/decisions.md 22). */
async function checkKey(tx: Tx, cipher: Cipher): Promise<void> {
  const known = await tx.settings.get(checkName);
  if (known === null) await tx.settings.put(checkName, cipher.check);
  else if (known !== cipher.check)
    throw new ConfigError([{ variable: "ENCRYPTION_KEY", text: "ENCRYPTION_KEY is not the key that this database was begun with" }]);
}
