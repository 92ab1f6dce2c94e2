import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readErasures } from "../../src/backup/erasure-list.ts";
import { systemClock } from "../../src/core/clock.ts";
import { checkNoOpenErasures } from "../../src/core/erasure/erasure.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { eraseOpen } from "../../src/core/use-cases/erase.ts";
import { beginErasure } from "../../src/core/use-cases/plan-erasure.ts";
import { eraseParts } from "../../src/modules/erasure.ts";
import { openInstallation } from "../../src/start/installation.ts";
import { openStore } from "../../src/store/open.ts";
import { openBackupRig } from "../backup/rig.ts";
import { uploadFile } from "../files/files-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { dump } from "./filled.ts";

const context = () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom });

describeOnEach("a restore", (kind) => {
  test("of a backup from before an erasure is held, and erases the person and their team again", async () => {
    await using rig = await openBackupRig(kind);
    const { service, database, folder } = rig.platform;
    const [person, other] = [await service.person(), await service.person()];
    await uploadFile(rig.platform, person, "secret content");
    const kept = await uploadFile(rig.platform, other, "other content");
    await person.v2("task.create", { message: { content: "a secret task" } });
    await rig.backUp(rig.path("backup"));

    // The server runs during the erasure.
    const place = await rig.place();
    const dataDir = join(folder, "..");
    const config = { ...place.config, dataDir, databaseUrl: database.url };
    await service.store.change((tx) => beginErasure(tx, context(), "person", person.accountId));
    await eraseOpen(
      eraseParts(
        config,
        service.store,
        systemClock,
        () => undefined,
        () => undefined,
      ),
    );
    expect((await person.v2("task.list")).status).toBe(401);
    expect((await other.v2("file.detail", { file_id: kept.id })).status).toBe(200);

    const erasures = await readErasures(join(dataDir, "erasures.jsonl"));
    expect(erasures).toEqual([
      { kind: "space", subject: person.spaceId },
      { kind: "person", subject: person.accountId },
    ]);
    await place.restore(rig.path("backup"), { erasures });
    const store = await openStore({
      databaseUrl: place.config.databaseUrl,
      clock: systemClock,
      random: systemRandom,
    });
    expect(await store.accounts.profile(person.accountId, person.spaceId)).not.toBeNull();
    await expect(checkNoOpenErasures(store)).rejects.toThrow(
      "2 erasures are not complete: complete them with ./atp erase --pending",
    );
    await eraseOpen(
      eraseParts(
        place.config,
        store,
        systemClock,
        () => undefined,
        () => undefined,
      ),
    );
    await checkNoOpenErasures(store);
    const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
    await expect(openInstallation(place.config, ambient, async () => undefined)).rejects.toThrow("is held");
    await store.close();
    const rows = Object.entries(await dump(place.database)).flatMap(([table, lines]) =>
      lines.map((line) => `${table} ${line}`),
    );
    expect(rows.filter((row) => /secret/.test(row))).toEqual([]);
    const named = rows.filter((row) => row.includes(person.accountId)).map((row) => row.split(" ")[0]);
    expect(new Set(named)).toEqual(new Set(["audit_event", "erasure"]));
    const files = readdirSync(join(place.dataDir, "files"), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    );
    expect(files).toHaveLength(1);
    expect(existsSync(join(place.dataDir, "erasures.jsonl"))).toBe(true);
  });
});
