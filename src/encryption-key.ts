import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Config, ConfigError } from "./config.ts";
import type { Random } from "./core/ids.ts";
import { causeText } from "./core/root-cause.ts";
import { makeDurably } from "./storage/durable-file.ts";
import { makeFolder } from "./store/folder.ts";

type Place = Pick<Config, "encryptionKey" | "dataDir">;

/**
 * The 32 bytes that encrypt secrets at rest: `ENCRYPTION_KEY`, or else the file in the
 * data folder, which the first process to ask for it makes.
 *
 * @throws ConfigError when the file cannot be read or holds something else.
 */
export async function encryptionKey(place: Place, random: Random): Promise<Uint8Array> {
  const known = await knownKey(place);
  if (known !== null) return known;
  makeFolder(place.dataDir, "DATA_DIR");
  await makeDurably(pathIn(place), `${Buffer.from(random(32)).toString("base64")}\n`, random);
  return existingKey(place);
}

/**
 * As `encryptionKey`, of an installation that is there: nothing is made.
 *
 * @throws ConfigError when there is no such file, too.
 */
export async function existingKey(place: Place): Promise<Uint8Array> {
  const known = await knownKey(place);
  if (known !== null) return known;
  throw problem(`${pathIn(place)} is missing, and ENCRYPTION_KEY is not set: set it, or restore the file from a backup`);
}

const pathIn = ({ dataDir }: Place): string => join(dataDir, "encryption-key");

/** Null where the variable is unset and there is no file. */
async function knownKey(place: Place): Promise<Uint8Array | null> {
  if (place.encryptionKey !== null) return Buffer.from(place.encryptionKey, "base64");
  const path = pathIn(place);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw problem(`ENCRYPTION_KEY: the file ${path} cannot be read: ${causeText(error)}`);
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === 32) return key;
  throw problem(`${path} must hold 32 bytes in base64: restore it from a backup`);
}

const problem = (text: string): ConfigError => new ConfigError([{ variable: "ENCRYPTION_KEY", text }]);
