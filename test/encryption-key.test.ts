import { randomBytes } from "node:crypto";
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../src/config.ts";
import { encryptionKey } from "../src/encryption-key.ts";

const emptyFolder = () => mkdtempDisposable(join(tmpdir(), "encryption-key-"));

test("a given key is used, and no file is made", async () => {
  await using folder = await emptyFolder();
  const given = Buffer.alloc(32, 3);
  const key = await encryptionKey({ encryptionKey: given.toString("base64"), dataDir: folder.path }, randomBytes);
  expect(Buffer.from(key)).toEqual(given);
  expect(await readdir(folder.path)).toEqual([]);
});

test("without one a file is made, for its owner alone, and stays", async () => {
  await using folder = await emptyFolder();
  const config = { encryptionKey: null, dataDir: join(folder.path, "data") };
  const first = await encryptionKey(config, randomBytes);
  expect(first).toHaveLength(32);
  expect(await encryptionKey(config, randomBytes)).toEqual(first);
  const path = join(config.dataDir, "encryption-key");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(path, "utf8"), "base64")).toEqual(Buffer.from(first));
});

test("processes that start at once get the same key and leave nothing else behind", async () => {
  await using folder = await emptyFolder();
  const config = { encryptionKey: null, dataDir: folder.path };
  const keys = await Promise.all(Array.from({ length: 20 }, () => encryptionKey(config, randomBytes)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
  expect(await readdir(folder.path)).toEqual(["encryption-key"]);
});

test.each(["", "c2hvcnQ=\n", "no key at all"])("a file that holds %j stops the start and is left alone", async (content) => {
  await using folder = await emptyFolder();
  const path = join(folder.path, "encryption-key");
  await writeFile(path, content);
  await expect(encryptionKey({ encryptionKey: null, dataDir: folder.path }, randomBytes)).rejects.toThrow(ConfigError);
  expect(await readFile(path, "utf8")).toBe(content);
});

test("a file that cannot be read stops the start with its path and the cause", async () => {
  await using folder = await emptyFolder();
  const path = join(folder.path, "encryption-key");
  await mkdir(path);
  await expect(encryptionKey({ encryptionKey: null, dataDir: folder.path }, randomBytes)).rejects.toThrow(
    `ENCRYPTION_KEY: the file ${path} cannot be read: EISDIR`,
  );
});
