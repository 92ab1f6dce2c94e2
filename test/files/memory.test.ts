import { readFileSync, writeFileSync } from "node:fs";
import { type OutgoingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileLinks } from "../../src/core/files/links.ts";
import { cipher } from "../support/cipher.ts";
import { sample, share } from "../support/depth.ts";
import { startS3 } from "../support/s3-server.ts";
import { root, type ServerProcess, startServer } from "../support/server-process.ts";
import { callV2 } from "../support/wires.ts";

const mebibyte = 1024 ** 2;
const chunk = new Uint8Array(mebibyte).fill(7);

/** The flags that `npm start` gives: how rarely V8 collects young garbage decides how much of it exists. */
const startFlags =
  /serve \] \|\| exec "\$node" (\S+) /.exec(readFileSync(join(root, "atp"), "utf8"))?.[1] ?? "";

/** The memory of a process in bytes: now, or its peak since the last reset. */
const memoryOf = (pid: number | undefined, what: "VmRSS" | "VmHWM"): number => {
  const [, kilobytes = ""] =
    new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
};

/** The highest rise of the server's memory during the work, in mebibytes. */
async function memoryRise({ child }: ServerProcess, work: () => Promise<void>): Promise<number> {
  const before = memoryOf(child.pid, "VmRSS");
  // Its start may have used more memory than it has now (proc_pid_clear_refs(5)).
  writeFileSync(`/proc/${child.pid}/clear_refs`, "5");
  await work();
  return (memoryOf(child.pid, "VmHWM") - before) / mebibyte;
}

/** The text before and after the content of a body. */
type Frame = readonly [head: string, tail: string];

/** Sends `count` mebibytes as fast as they are read; returns the status. */
async function send(
  url: string,
  method: string,
  headers: OutgoingHttpHeaders,
  count: number,
  [head, tail]: Frame = ["", ""],
): Promise<number> {
  const sent = request(url, { method, headers });
  const status = new Promise<number>((resolve, reject) => {
    sent.once("error", reject).once("response", (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
  });
  if (head !== "") sent.write(head);
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => sent.write(chunk, resolve));
  sent.end(tail);
  return status;
}

/** An uploaded file. */
interface Uploaded {
  readonly id: string;
  readonly status: number;
}

async function put(
  { url, key }: ServerProcess,
  count: number,
  headers: OutgoingHttpHeaders,
): Promise<Uploaded> {
  const { body } = await callV2(
    url,
    "file.upload",
    { filename: "large.bin" },
    { headers: { "x-service-api-key": key } },
  );
  const status = await send(`${url}${new URL(body["upload_url"]).pathname}`, "PUT", headers, count);
  return { id: body["file"].id, status };
}

async function postForm({ url, key }: ServerProcess, count: number): Promise<Omit<Uploaded, "id">> {
  const headers = { api_key: key, "content-type": "multipart/form-data; boundary=edge" };
  const head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
  return { status: await send(`${url}/v1/files`, "POST", headers, count, [head, "\r\n--edge--\r\n"]) };
}

const uploads = {
  announced: (server: ServerProcess, count: number) =>
    put(server, count, { "content-length": count * mebibyte }),
  "in chunks": (server: ServerProcess, count: number) => put(server, count, {}),
  "as a form": postForm,
};

/** Downloads it once; returns the number of received bytes. */
async function download(server: ServerProcess, { id }: Pick<Uploaded, "id">): Promise<number> {
  const { body } = await fetch(fileLinks(cipher, server.url).download(id, Date.now()));
  let bytes = 0;
  for await (const piece of body ?? []) bytes += piece.length;
  return bytes;
}

const start = (env: Readonly<Record<string, string>> = {}) =>
  startServer({ NODE_OPTIONS: startFlags, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"), ...env });

const timeout = 120_000;
/** Mebibytes: at least twice the allowed rise. */
const size = sample(512, 128);

test.each(share(Object.entries(uploads), 0, 3))(
  `an upload of ${size} MB, %s, raises the memory of the server by less than 64 MB`,
  { timeout },
  async (_, upload) => {
    await using server = await start();
    expect((await upload(server, 1)).status).toBe(200);
    const risen = await memoryRise(server, async () => expect((await upload(server, size)).status).toBe(200));
    expect(risen).toBeLessThan(64);
  },
);

test(`a download of ${size} MB raises the memory of the server by less than 64 MB`, { timeout }, async () => {
  await using server = await start();
  const [small, large] = [await uploads.announced(server, 1), await uploads.announced(server, size)];
  expect(await download(server, small)).toBe(mebibyte);
  const risen = await memoryRise(server, async () =>
    expect(await download(server, large)).toBe(size * mebibyte),
  );
  expect(risen).toBeLessThan(64);
});

test("100 MB to a bucket and back raise the memory of the server by less than 64 MB", {
  timeout,
}, async () => {
  await using s3 = await startS3();
  const { name, endpoint, credentials } = s3.bucket;
  const { accessKeyId = "", secretAccessKey = "" } = credentials ?? {};
  await using server = await start({
    ...{ S3_BUCKET: name, S3_ENDPOINT: endpoint ?? "" },
    ...{ S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey },
  });
  // The first upload in parts loads its modules: that rise is not part of the measurement.
  expect(await download(server, await uploads.announced(server, 11))).toBe(11 * mebibyte);
  let large: Uploaded | undefined;
  const risen = await memoryRise(server, async () => {
    large = await uploads.announced(server, 100);
  });
  expect([large?.status, s3.objects().length]).toEqual([200, 2]);
  const again = await memoryRise(server, async () =>
    expect(large && (await download(server, large))).toBe(100 * mebibyte),
  );
  expect(Math.max(risen, again)).toBeLessThan(64);
});
