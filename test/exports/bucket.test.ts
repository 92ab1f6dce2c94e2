import { expect, test } from "vitest";
import { openFilePlatform, readBlobTotals, until, uploadFile } from "../files/files-rig.ts";
import { postgresTemplate } from "../support/database.ts";
import { type S3Server, startS3 } from "../support/s3-server.ts";
import { untilStatus } from "../support/until.ts";
import { downloadUrl, readZip, requestArchive, requestExport } from "./export-rig.ts";

const envOf = ({ bucket }: S3Server) => ({
  ...{ S3_BUCKET: bucket.name, S3_ENDPOINT: bucket.endpoint ?? "", S3_REDIRECT: "on" },
  ...{
    S3_ACCESS_KEY_ID: bucket.credentials?.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: bucket.credentials?.secretAccessKey ?? "",
  },
});

const noise = new Uint8Array(12 * 1024 * 1024).map((_, at) => (at * at * 31 + (at >> 7)) % 256);

test("an archive of several parts is stored in the bucket and read back, and is always sent by the platform", async () => {
  await using s3 = await startS3();
  await using town = await openFilePlatform(postgresTemplate === undefined ? "sqlite" : "postgresql", {
    idle: false,
    env: envOf(s3),
  });
  const ann = await town.service.person();
  const { id: file_id } = await uploadFile(town, ann, noise, "noise.bin");
  const { body } = await ann.v2("task.create", { message: { content: [{ type: "file", file_id }] } });
  await untilStatus(town.service.store, body["task_id"], "stopped");
  const { id, files } = await requestArchive(town, ann, "tasks_with_attachments");
  const entry = files.names.find((one) => one.endsWith("_noise.bin")) ?? "";
  expect(files.read(entry).equals(noise)).toBe(true);
  expect([s3.objects().length, s3.uploads(), town.stored()]).toEqual([2, [], []]);
  const reply = await fetch(downloadUrl(town, id), {
    redirect: "manual",
    headers: { range: "bytes=8000000-8000009" },
  });
  expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([206, 10]);
  const whole = Buffer.from(await (await fetch(downloadUrl(town, id))).arrayBuffer());
  expect((await readZip(whole)).names).toEqual(files.names);

  // Thirty days later.
  const { store } = town.service;
  const until31 = Date.now() + 31 * 24 * 3_600_000;
  await store.change(async (tx) => tx.blobs.drop(await tx.exports.purge(until31, until31, 10)));
  await until(() => s3.objects().length === 1);
});

test("an export released by a drain leaves nothing in the bucket", async () => {
  await using s3 = await startS3();
  await using town = await openFilePlatform("sqlite", { idle: false, env: envOf(s3) });
  const ann = await town.service.person();
  const { id: file_id } = await uploadFile(town, ann, noise, "noise.bin");
  for (let at = 0; at < 4; at += 1) {
    const { body } = await ann.v2("task.create", { message: { content: [{ type: "file", file_id }] } });
    await untilStatus(town.service.store, body["task_id"], "stopped");
  }
  const { store } = town.service;
  const id = await requestExport(store, ann, "tasks_with_attachments");
  await until(() => s3.uploads().length === 1);
  await town.service.drain();
  expect([s3.uploads(), s3.objects().length]).toEqual([[], 1]);
  expect(await store.exports.byId(id)).toMatchObject({ status: "processing", claims: 0, leaseUntil: null });
  expect((await readBlobTotals(town.database)).blobs.map(({ state }) => state)).toEqual(["kept"]);
});
