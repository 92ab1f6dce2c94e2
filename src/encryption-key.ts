import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Config, ConfigError } from "./config.ts";
import type { Random } from "./core/ids.ts";

/**
 * The 32 bytes that encrypt secrets at rest: `ENCRYPTION_KEY`, or else the file in the
 * data folder, which the first process to ask for it makes.
 *
 * @throws ConfigError when the file holds something else.
 */
export async function encryptionKey(
  { encryptionKey: given, dataDir }: Pick<Config, "encryptionKey" | "dataDir">,
  random: Random,
): Promise<Uint8Array> {
  if (given !== null) return Buffer.from(given, "base64");
  const path = join(dataDir, "encryption-key");
  const text = (await present(path)) ?? (await make(path, dataDir, random));
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === 32) return key;
  throw new ConfigError([{ variable: "ENCRYPTION_KEY", text: `${path} must hold 32 bytes in base64: restore it from a backup` }]);
}

async function present(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Written whole beside its place, then linked there: of several processes one wins, and all read its key. */
async function make(path: string, dataDir: string, random: Random): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${Buffer.from(random(8)).toString("hex")}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${Buffer.from(random(32)).toString("base64")}\n`);
    await file.sync();
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await syncFolder(dataDir);
  } finally {
    await file.close();
    await rm(draft);
  }
  return readFile(path, "utf8");
}

/** The name is as durable as the key: what is encrypted with a key that is lost is lost too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
