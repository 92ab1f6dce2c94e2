import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "./config/variable.ts";
import type { Config } from "./config.ts";
import { causeText } from "./core/failure.ts";
import type { Random } from "./core/ids.ts";
import { createDurably } from "./storage/durable-file.ts";
import { makeFolder } from "./store/folder.ts";

type KeySource = Pick<Config, "encryptionKey" | "dataDir">;

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
  throw keyError(`${keyPath(source)} is missing, and ENCRYPTION_KEY is not set: set it, or restore the file from a backup`);
}

const keyPath = ({ dataDir }: KeySource): string => join(dataDir, "encryption-key");

/** Returns null if the variable is unset and the file is missing. */
async function readKey(source: KeySource): Promise<Uint8Array | null> {
  if (source.encryptionKey !== null) return Buffer.from(source.encryptionKey, "base64");
  const path = keyPath(source);
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
