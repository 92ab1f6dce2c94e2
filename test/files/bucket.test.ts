import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { postgresTemplate } from "../support/database.ts";
import { type S3Server, startS3 } from "../support/s3-server.ts";
import type { Calling } from "../support/service.ts";
import {
  createSlot,
  type FilePlatform,
  openFilePlatform,
  openPut,
  put,
  readBlobTotals,
  until,
  uploadFile,
} from "./files-rig.ts";

const envOf = ({ bucket }: S3Server, redirect: "on" | "off") => ({
  ...{
    S3_BUCKET: bucket.name,
    S3_ENDPOINT: bucket.endpoint ?? "",
    S3_REDIRECT: redirect,
    S3_PREFIX: "shared",
  },
  ...{
    S3_ACCESS_KEY_ID: bucket.credentials?.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: bucket.credentials?.secretAccessKey ?? "",
  },
});

/** Shortens sleeps: the sweep runs twice a second, and the bucket reads the real time in signatures. */
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 500), signal) };

/** More than one part. */
const large = randomBytes(7 * 1024 ** 2);

/** Creates a task with this file; returns the link that its first message shows. */
async function attached(platform: FilePlatform, person: Calling, fileId: string): Promise<string> {
  const content = [
    { type: "text", text: "[[forever]]" },
    { type: "file", file_id: fileId },
  ];
  const made = await person.v2("task.create", { message: { content } });
  expect(made.status).toBe(200);
  const { body } = await person.v2("task.listMessages", { task_id: made.body["task_id"], order: "asc" });
  return platform.reach(body["messages"][0].user_message.attachments[0].url);
}

test.each([
  "off",
  "on",
] as const)("a platform keeps files in a bucket, from the PUT to the sweep; redirects are %s", async (redirect) => {
  await using s3 = await startS3();
  await using platform = await openFilePlatform("sqlite", { clock, env: envOf(s3, redirect) });
  const ann = await platform.service.person();
  const { id } = await uploadFile(platform, ann, large, "large.bin");
  expect([s3.objects().length, s3.uploads(), platform.stored()]).toEqual([1, [], []]);
  const link = await attached(platform, ann, id);
  const first = await fetch(link, { redirect: "manual" });
  expect([first.status, first.headers.get("location")?.startsWith(s3.bucket.endpoint ?? "?")]).toEqual(
    redirect === "on" ? [302, true] : [200, undefined],
  );
  await first.body?.cancel();
  const whole = await fetch(link);
  expect(Buffer.from(await whole.arrayBuffer()).equals(large)).toBe(true);
  expect(whole.headers.get("content-disposition")).toBe('attachment; filename="large.bin"');
  const part = await fetch(link, { headers: { range: "bytes=5242878-5242881" } });
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
    206,
    large.subarray(5242878, 5242882),
  ]);

  expect((await ann.v2("file.delete", { file_id: id })).status).toBe(200);
  await until(() => s3.objects().length === 0);
  expect((await fetch(link)).status).toBe(404);
});

test("an upload that is cut leaves nothing in the bucket, and its slot accepts the next", async () => {
  await using s3 = await startS3();
  await using platform = await openFilePlatform("sqlite", { env: envOf(s3, "off") });
  const ann = await platform.service.person();
  const { url } = await createSlot(platform, ann);
  const cut = openPut(url, { "content-length": 20 * 1024 ** 2 });
  for (const _ of [1, 2]) await cut.send(large);
  await until(() => s3.uploads().length === 1);
  cut.cut();
  await until(async () => (await readBlobTotals(platform.database)).blobs.length === 0);
  expect([s3.objects(), s3.uploads(), (await readBlobTotals(platform.database)).isExact]).toEqual([
    [],
    [],
    true,
  ]);
  expect((await put(url, large)).status).toBe(200);
});

test.skipIf(postgresTemplate === undefined)(
  "a file that one process stores is served by another: they share the bucket",
  async () => {
    await using s3 = await startS3();
    await using platform = await openFilePlatform("postgresql", {
      nodes: 2,
      idle: false,
      env: envOf(s3, "off"),
    });
    const ann = await platform.service.person();
    const [one, other] = platform.service.nodes.map(({ url }) => url);
    const slot = await createSlot(platform, ann, "notes.txt");
    expect((await put(`${one}${new URL(slot.url).pathname}`, "Water the garden.")).status).toBe(200);
    const { pathname } = new URL(await attached(platform, ann, slot.id));
    for (const node of [one, other])
      expect(await (await fetch(`${node}${pathname}`)).text()).toBe("Water the garden.");
    expect(platform.stored()).toEqual([]);
  },
);
