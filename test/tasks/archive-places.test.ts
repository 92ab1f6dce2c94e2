import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { archive as archiveCheck } from "../../cli/server/doctor/archive.ts";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { createS3Blobs } from "../../src/adapters/storage/s3.ts";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { release } from "../../src/core/processes/hold.ts";
import { eraseOpen } from "../../src/core/use-cases/erase.ts";
import { beginErasure } from "../../src/core/use-cases/plan-erasure.ts";
import { eraseParts } from "../../src/modules/erasure.ts";
import { openStore } from "../../src/store/open.ts";
import { moveBetween, openMoveRig } from "../backup/move-rig.ts";
import { openBackupRig } from "../backup/rig.ts";
import { openFilePlatform } from "../files/files-rig.ts";
import { type DatabaseKind, describeOnOne, postgresTemplate } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { startS3 } from "../support/s3-server.ts";
import { type Calling, callingWith, openService, readSegmentOf } from "../support/service.ts";
import { archivePasses, putTask, turn } from "./archive-rig.ts";

const never = new AbortController().signal;
const silent = () => undefined;
const listed = async (who: Calling, id: string) =>
  (await who.v2("task.listMessages", { task_id: id, order: "asc", verbose: true, limit: 200 })).body[
    "messages"
  ];

describeOnOne("archived events", (kind) => {
  const other: DatabaseKind = kind === "sqlite" ? "postgresql" : "sqlite";

  test("are in a backup and are restored with it", async () => {
    await using rig = await openBackupRig(kind);
    const { service, folder } = rig.platform;
    const ann = await service.person();
    const id = await putTask(service.store, ann, turn(150));
    const before = await listed(ann, id);
    await archivePasses(service.store, createLocalBlobs(folder))();
    expect(await rig.backUp(rig.path("backup"))).toMatchObject({ files: 1 });
    const place = await rig.place();
    await place.restore(rig.path("backup"));
    const readSegment = readSegmentOf({ DATA_DIR: place.dataDir }, silent);
    const store = await openStore({
      databaseUrl: place.config.databaseUrl,
      clock: systemClock,
      random: systemRandom,
      readSegment,
    });
    await store.change((tx) => release(tx));
    const over = { store, url: place.config.databaseUrl };
    const restored = await openService({ over, idle: true, env: { DATA_DIR: place.dataDir } });
    expect(
      await listed(
        callingWith(ann.headers, () => restored.url),
        id,
      ),
    ).toEqual(before);
    await restored[Symbol.asyncDispose]();
    await store.close();
  });

  test.skipIf(postgresTemplate === undefined)("move with their files to another database", async () => {
    await using rig = openMoveRig();
    const source = await rig.place(kind);
    const serving = await source.serve();
    const ann = await serving.person();
    const id = await putTask(serving.store, ann, turn(150));
    const before = await listed(ann, id);
    await archivePasses(serving.store, createLocalBlobs(join(source.dataDir, "files")))();
    await serving[Symbol.asyncDispose]();
    const target = await rig.place(other);
    expect(await moveBetween(source, target, { copiesFiles: true })).toMatchObject({ files: 1 });
    const moved = await target.serve();
    expect(
      await listed(
        callingWith(ann.headers, () => moved.url),
        id,
      ),
    ).toEqual(before);
    await moved[Symbol.asyncDispose]();
  });

  test("are found by an erasure, which deletes their files; atp doctor names the task of a file that is missing", async () => {
    await using platform = await openFilePlatform(kind);
    const { store } = platform.service;
    const ann = await platform.service.person();
    const [bob, cleo] = [
      await platform.service.person({ with: ann }),
      await platform.service.person({ with: ann }),
    ];
    await putTask(store, bob, turn(150));
    const hers = await putTask(store, cleo, turn(150));
    const before = await listed(cleo, hers);
    await archivePasses(store, createLocalBlobs(platform.folder))();
    expect(platform.stored()).toHaveLength(2);
    const dataDir = join(platform.folder, "..");
    const config = loadConfig({
      ...{ DATA_DIR: dataDir, DATABASE_URL: platform.database.url, DATA_DIR_SHARED: "true" },
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    expect(await archiveCheck(config).run(never)).toMatchObject([
      { verdict: "ok", found: expect.stringContaining("2 files") },
    ]);

    const context = { now: Date.now(), ids: systemIds, random: systemRandom };
    await store.change((tx) => beginErasure(tx, context, "person", bob.accountId));
    await eraseOpen(eraseParts(config, store, systemClock, silent, silent));
    expect(await runDirectly(platform.database, "SELECT task_id FROM event_segment")).toEqual([
      { task_id: hers },
    ]);
    expect(platform.stored()).toHaveLength(1);
    expect(await listed(cleo, hers)).toEqual(before);

    rmSync(join(platform.folder, platform.stored()[0] ?? ""));
    expect(await archiveCheck(config).run(never)).toMatchObject([
      { verdict: "fail", found: expect.stringContaining(hers) },
    ]);
  });
});

test("archived events are written to a bucket and read from it; without the bucket, a call is refused with 503", async () => {
  await using s3 = await startS3();
  const { bucket } = s3;
  const env = {
    ...{ S3_BUCKET: bucket.name, S3_ENDPOINT: bucket.endpoint ?? "", S3_PREFIX: "shared" },
    ...{
      S3_ACCESS_KEY_ID: bucket.credentials?.accessKeyId ?? "",
      S3_SECRET_ACCESS_KEY: bucket.credentials?.secretAccessKey ?? "",
    },
  };
  await using platform = await openFilePlatform("sqlite", { env });
  const ann = await platform.service.person();
  const id = await putTask(platform.service.store, ann, turn(150));
  const before = await listed(ann, id);
  await archivePasses(platform.service.store, createS3Blobs(bucket))();
  expect(s3.objects()).toHaveLength(1);
  expect(await listed(ann, id)).toEqual(before);
  await s3[Symbol.asyncDispose]();
  expect(await ann.v2("task.listMessages", { task_id: id, verbose: true })).toMatchObject({
    status: 503,
    body: { error: { code: "unavailable", message: "the storage cannot be reached now" } },
  });
  expect(platform.service.problems.map(({ text }) => text)).not.toContainEqual(
    expect.stringContaining("missing or damaged"),
  );
});
