import { readdirSync } from "node:fs";
import { mkdtempDisposable, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import { ConfigError } from "../src/config/variable.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { createFirstAccount } from "../src/core/use-cases/initialize-installation.ts";
import { type Ambient, openExisting, openInstallation } from "../src/start/installation.ts";
import { openStore } from "../src/store/open.ts";
import { databaseUrl, describeOnEach, rowsIn } from "./support/database.ts";

const outside: Ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
const emptyFolder = () => mkdtempDisposable(join(tmpdir(), "installation-"));

describeOnEach("a command", (kind) => {
  const configOf = (dataDir: string, url: string) =>
    loadConfig({
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
  const missing = /^no installation in the (file|database) .+; set DATA_DIR or DATABASE_URL$/;

  test("creates nothing without a database, and refuses a migrated one without an account", async () => {
    await using folder = await emptyFolder();
    await using database = await databaseUrl(kind, { empty: true });
    const config = configOf(join(folder.path, "data"), database.url);
    await expect(openExisting(config, outside)).rejects.toThrow(missing);
    expect(readdirSync(folder.path)).toEqual([]);
    if (kind === "postgresql")
      expect(
        await rowsIn(database.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      ).toEqual([]);
    await (await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom })).close();
    await expect(openExisting(config, outside)).rejects.toThrow(missing);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("opens the installation of an earlier start", async () => {
    await using folder = await emptyFolder();
    await using database = await databaseUrl(kind);
    const config = configOf(folder.path, database.url);
    const first = await openInstallation(config, outside, async (tx) => {
      await createFirstAccount(tx, { now: 1, ids: systemIds, random: systemRandom }, "ann@example.com");
    });
    await first.store.close();
    const { store } = await openExisting(config, outside);
    expect(await store.accounts.firstTeam()).not.toBeNull();
    await store.close();
    const other = loadConfig({
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 8).toString("base64"),
    });
    await expect(openExisting(other, outside)).rejects.toThrow(
      "ENCRYPTION_KEY is not the key that this database was created with",
    );
  });
});

describe("a command in a data folder", () => {
  test("creates no encryption key to replace a missing one", async () => {
    await using folder = await emptyFolder();
    const config = loadConfig({ DATA_DIR: folder.path });
    const first = await openInstallation(config, outside, async (tx) => {
      await createFirstAccount(tx, { now: 1, ids: systemIds, random: systemRandom }, "ann@example.com");
    });
    await first.store.close();
    await rm(join(folder.path, "encryption-key"));
    await expect(openExisting(config, outside)).rejects.toThrow(ConfigError);
    expect(readdirSync(folder.path)).not.toContain("encryption-key");
  });

  test("names the folder when it is empty", async () => {
    await using folder = await emptyFolder();
    const dataDir = join(folder.path, "none");
    await expect(openExisting(loadConfig({ DATA_DIR: dataDir }), outside)).rejects.toThrow(
      `no installation in ${dataDir}; set DATA_DIR or DATABASE_URL`,
    );
  });
});
