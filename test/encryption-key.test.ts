import { randomBytes } from "node:crypto";
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../src/config/config.ts";
import { openEncryptionKey } from "../src/start/encryption-key.ts";

const emptyFolder = () => mkdtempDisposable(join(tmpdir(), "encryption-key-"));

test("a configured key is used, and no file is created", async () => {
  await using folder = await emptyFolder();
  const configured = Buffer.alloc(32, 3);
  const key = await openEncryptionKey(
    { encryptionKey: configured.toString("base64"), dataDir: folder.path },
    randomBytes,
  );
  expect(Buffer.from(key)).toEqual(configured);
  expect(await readdir(folder.path)).toEqual([]);
});

test("without a configured key a file is created, for its owner alone, and is kept", async () => {
  await using folder = await emptyFolder();
  const config = { encryptionKey: null, dataDir: join(folder.path, "data") };
  const first = await openEncryptionKey(config, randomBytes);
  expect(first).toHaveLength(32);
  expect(await openEncryptionKey(config, randomBytes)).toEqual(first);
  const path = join(config.dataDir, "encryption-key");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(path, "utf8"), "base64")).toEqual(Buffer.from(first));
});

test("processes that start at once get the same key and leave no other file", async () => {
  await using folder = await emptyFolder();
  const config = { encryptionKey: null, dataDir: folder.path };
  const keys = await Promise.all(Array.from({ length: 20 }, () => openEncryptionKey(config, randomBytes)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
  expect(await readdir(folder.path)).toEqual(["encryption-key"]);
});

test.each([
  "",
  "c2hvcnQ=\n",
  "no key at all",
])("a file that holds %j stops the start and is left alone", async (content) => {
  await using folder = await emptyFolder();
  const path = join(folder.path, "encryption-key");
  await writeFile(path, content);
  await expect(openEncryptionKey({ encryptionKey: null, dataDir: folder.path }, randomBytes)).rejects.toThrow(
    ConfigError,
  );
  expect(await readFile(path, "utf8")).toBe(content);
});

test("an unreadable file stops the start with its path and the cause", async () => {
  await using folder = await emptyFolder();
  const path = join(folder.path, "encryption-key");
  await mkdir(path);
  await expect(openEncryptionKey({ encryptionKey: null, dataDir: folder.path }, randomBytes)).rejects.toThrow(
    `ENCRYPTION_KEY: the file ${path} cannot be read: EISDIR`,
  );
});
