import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { firstStart } from "./core/accounts/first-start.ts";
import type { Ids, Random } from "./core/ids.ts";
import { keyDigest } from "./core/keys/api-key.ts";
import type { Tx } from "./core/store.ts";
import { replaceDurably } from "./storage/durable-file.ts";
import { type FirstKey, type Screen, welcome } from "./welcome.ts";

/** What the first start is made from. */
export interface FirstKeyParts {
  readonly dataDir: string;
  readonly ownerEmail: string;
  readonly now: () => number;
  readonly ids: Ids;
  readonly random: Random;
}

/** The first API key, from when it is made until it was shown. */
export interface FirstKeys {
  /** Makes account, team and key in a database that has none; to be run in the change that opens the installation. */
  make(tx: Tx): Promise<void>;
  /** Shows a key that was just made, or says where an unused key of an earlier start is. */
  tell(screen: Screen, baseUrl: string): Promise<void>;
}

/**
 * The first key is written to the file `first-key` of the data folder before it is committed. A process that dies in
 * between leaves either nothing, or a key that the next start finds and shows. On a terminal the key itself is shown,
 * and then the file is removed.
 */
export function firstKeys({ dataDir, ownerEmail, now, ids, random }: FirstKeyParts): FirstKeys {
  const path = join(dataDir, "first-key");
  let made: string | null = null;
  let unused: string | null = null;

  /** Where the key of this digest is; null when it is lost. */
  async function find(digest: string): Promise<FirstKey> {
    const kept = await readFile(path, "utf8").catch(() => "");
    return keyDigest(kept.trim()) === digest ? { kind: "kept", path } : { kind: "lost", path };
  }

  return {
    async make(tx) {
      made = await firstStart(tx, { now: now(), ids, random }, ownerEmail);
      // A change may be run again: the file always has the key of the last run, which is the one that is committed.
      if (made !== null) await replaceDurably(path, `${made}\n`, random);
      else unused = await tx.keys.onlyUnused();
    },
    async tell(screen, baseUrl) {
      if (made === null) {
        if (unused !== null) welcome(screen, baseUrl, await find(unused));
        return;
      }
      const isShown = screen.isTTY === true;
      welcome(screen, baseUrl, isShown ? { kind: "shown", key: made } : { kind: "made", path });
      if (isShown) await rm(path, { force: true });
    },
  };
}
