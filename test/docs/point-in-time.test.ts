import { expect } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { postgresTemplate, rowsIn, runOn } from "../support/database.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

test.skipIf(postgresTemplate === undefined)(
  "the commands of docs/operate/backup.md recover PostgreSQL to a moment: what was before it is there, what came after it is not",
  { timeout: 120_000 },
  async () => {
    const page = readPage("docs/operate/backup.md");
    const [settings = ""] = blocksIn(page, "ini");
    const shells = blocksIn(page, "sh");
    const [baseBackup = "", recover = ""] = ["pg_basebackup", "recovery.signal"].map((word) =>
      shells.find((lines) => lines.includes(word)),
    );
    await using cluster = await startCluster(settings.replaceAll("/backups", "FOLDER"), ["wal", "base"]);
    const here = (lines: string) => lines.replaceAll("/backups", cluster.path("."));
    const store = await openStore({ databaseUrl: cluster.url, clock: systemClock, random: systemRandom });
    await store.change((tx) => tx.settings.put("first", "1"));
    await cluster.shell(here(baseBackup), { DATABASE_URL: cluster.url });
    await store.change((tx) => tx.settings.put("second", "1"));
    const [{ moment } = { moment: "" }] = await rowsIn(
      cluster.url,
      "SELECT CAST(clock_timestamp() AS text) AS moment",
    );
    await store.change((tx) => tx.settings.put("third", "1"));
    await store.close();
    await runOn(cluster.url, "SELECT pg_switch_wal()");
    const archived =
      "SELECT 1 FROM pg_stat_archiver WHERE last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1)";
    await expect.poll(() => rowsIn(cluster.url, archived), { timeout: 30_000 }).toHaveLength(1);
    await cluster.crash(cluster.data);
    await cluster.shell(`mv data old\n${here(recover)}`, { PGDATA: cluster.data, MOMENT: String(moment) });
    await expect
      .poll(() => rowsIn(cluster.url, "SELECT CAST(pg_is_in_recovery() AS text) AS r"), { timeout: 30_000 })
      .toEqual([{ r: "false" }]);
    const recovered = await openStore({ databaseUrl: cluster.url, clock: systemClock, random: systemRandom });
    const values = await Promise.all(
      ["first", "second", "third"].map((name) => recovered.settings.get(name)),
    );
    await recovered.close();
    expect(values).toEqual(["1", "1", null]);
  },
);
