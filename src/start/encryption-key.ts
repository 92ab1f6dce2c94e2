import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDurably } from "../adapters/storage/durable-file.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/variable.ts";
import { causeText } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import { makeFolder } from "../store/folder.ts";

type KeySource = Pick<Config, "encryptionKey" | "dataDir">;
type PreviousSource = Pick<Config, "previousEncryptionKey" | "dataDir">;

/**
 * The 32 bytes that encrypt secrets at rest: `ENCRYPTION_KEY`, or else the file in the
 * data folder, which the first start creates.
 *
 * @throws ConfigError when the file cannot be read or holds something else.
 */
export async function openEncryptionKey(source: KeySource, random: Random): Promise<Uint8Array> {
  const key = await readKey(source);
  if (key !== null) return key;
  makeFolder(source.dataDir, "DATA_DIR");
  await createDurably(keyPath(source), `${Buffer.from(random(32)).toString("base64")}\n`, random);
  return readEncryptionKey(source);
}

/**
 * As `openEncryptionKey`, for an existing installation: creates nothing.
 *
 * @throws ConfigError also when the file is missing.
 */
export async function readEncryptionKey(source: KeySource): Promise<Uint8Array> {
  const key = await readKey(source);
  if (key !== null) return key;
  throw keyError(
    `${keyPath(source)} is missing, and ENCRYPTION_KEY is not set: set it, or restore the file from a backup`,
  );
}

/**
 * The key that is replaced while it is rotated: `ENCRYPTION_KEY_PREVIOUS`, or else the file
 * `encryption-key-previous` in the data folder.
 *
 * @throws ConfigError when the file cannot be read or holds something else.
 */
export const readPreviousKey = ({
  previousEncryptionKey,
  dataDir,
}: PreviousSource): Promise<Uint8Array | null> =>
  previousEncryptionKey === null
    ? readKeyFile(join(dataDir, "encryption-key-previous"))
    : Promise.resolve(Buffer.from(previousEncryptionKey, "base64"));

const keyPath = ({ dataDir }: KeySource): string => join(dataDir, "encryption-key");

/** Returns null if the variable is unset and the file is missing. */
const readKey = async (source: KeySource): Promise<Uint8Array | null> =>
  source.encryptionKey === null
    ? await readKeyFile(keyPath(source))
    : Buffer.from(source.encryptionKey, "base64");

async function readKeyFile(path: string): Promise<Uint8Array | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw keyError(`ENCRYPTION_KEY: the file ${path} cannot be read: ${causeText(error)}`);
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === 32) return key;
  throw keyError(`${path} must hold 32 bytes in base64: restore it from a backup`);
}

const keyError = (text: string): ConfigError => new ConfigError([{ variable: "ENCRYPTION_KEY", text }]);
