import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Export } from "../../src/core/exports/export.ts";
import { type FilePlatform, openFilePlatform, uploadFile } from "../files/files-rig.ts";
import type { Person } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { downloadUrl, readZip, requestExport, waitForExport } from "./export-rig.ts";

/** A platform with one finished export of some megabytes of incompressible data. */
async function platformWithExport(): Promise<{
  readonly platform: FilePlatform;
  readonly ann: Person;
  readonly record: Export;
}> {
  const platform = await openFilePlatform("sqlite", { idle: false });
  const ann = await platform.service.person();
  const noise = Uint8Array.from({ length: 2_000_000 }, (_, at) => (at * at * 31 + (at >> 7)) % 256);
  const { id: file_id } = await uploadFile(platform, ann, noise, "noise.bin");
  const { body } = await ann.v2("task.create", { message: { content: [{ type: "file", file_id }] } });
  await untilStatus(platform.service.store, body["task_id"], "stopped");
  const record = await waitForExport(
    platform.service.store,
    await requestExport(platform.service.store, ann, "full", { includeFiles: true }),
  );
  return { platform, ann, record };
}

describe("the link of an archive", () => {
  let platform: FilePlatform;
  let record: Export;
  let whole: Buffer;
  beforeAll(async () => {
    ({ platform, record } = await platformWithExport());
    whole = Buffer.from(await (await fetch(downloadUrl(platform, record.id))).arrayBuffer());
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test("returns the archive as an attachment that caches do not store and browsers do not render", async () => {
    const reply = await fetch(downloadUrl(platform, record.id));
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="export-${record.id}.zip"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      "content-length": `${record.archive?.bytes}`,
      etag: `"${record.archive?.sha256}"`,
    });
    expect((await readZip(Buffer.from(await reply.arrayBuffer()))).names.length).toBe(18);
  });

  test("answers HEAD with the same headers and no body", async () => {
    const [head, get] = [
      await fetch(downloadUrl(platform, record.id), { method: "HEAD" }),
      await fetch(downloadUrl(platform, record.id)),
    ];
    await get.body?.cancel();
    const headersOf = ({ headers }: Response) =>
      ["content-length", "content-type", "etag", "content-disposition"].map((name) => headers.get(name));
    expect([head.status, headersOf(head), await head.text()]).toEqual([200, headersOf(get), ""]);
  });

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=65535-65536", 65_535, 65_537],
    ["bytes=1000000-1500000", 1_000_000, 1_500_001],
    ["bytes=-10", -10, undefined],
    ["bytes=2000000-", 2_000_000, undefined],
  ])("resumes an interrupted download: %s", async (range, start, end) => {
    const reply = await fetch(downloadUrl(platform, record.id), { headers: { range } });
    const part = Buffer.from(await reply.arrayBuffer());
    expect([reply.status, part.equals(whole.subarray(start, end))]).toEqual([206, true]);
    expect(reply.headers.get("content-range")).toMatch(new RegExp(`^bytes \\d+-\\d+/${whole.length}$`));
  });

  test("refuses a range outside the archive", async () => {
    const reply = await fetch(downloadUrl(platform, record.id), {
      headers: { range: `bytes=${whole.length}-` },
    });
    expect([reply.status, reply.headers.get("content-range")]).toEqual([416, `bytes */${whole.length}`]);
  });

  test("is valid for 10 minutes, only for this export, and only as signed", async () => {
    const { store } = platform.service;
    const status = async (url: string, method = "GET") => {
      const reply = await fetch(url, { method });
      await reply.body?.cancel();
      return reply.status;
    };
    const now = Date.now();
    expect(await status(downloadUrl(platform, record.id, now - 590_000))).toBe(200);
    expect(await status(downloadUrl(platform, record.id, now - 601_000))).toBe(403);
    const link = downloadUrl(platform, record.id, now);
    expect(await status(`${link.slice(0, -1)}${link.endsWith("A") ? "E" : "A"}`)).toBe(403);
    const other = await requestExport(
      store,
      { accountId: record.requestedBy, spaceId: record.spaceId },
      "tasks",
    );
    expect(await status(link.replace(record.id, other))).toBe(403);
    const later = String(Number(link.split("/").at(-2)) + 60);
    expect(await status(link.split("/").with(-2, later).join("/"))).toBe(403);
    expect(await status(link.replace("/exports/", "/downloads/"))).toBe(403);
    for (const method of ["POST", "PUT", "DELETE"]) expect(await status(link, method)).toBe(405);
    expect(await status(downloadUrl(platform, "Vn8Qd2LkTz5hXw3BsRmYpC", now))).toBe(404);
  });

  test("returns the complete archive over HTTP/2 too", async () => {
    const session = connectHttp2(platform.service.url);
    const stream = session.request({ ":path": new URL(downloadUrl(platform, record.id)).pathname });
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part);
    session.close();
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });

  test("is encrypted in the storage", () => {
    const path = platform.stored().find((one) => one.endsWith(record.archive?.blobId ?? "?"));
    const atRest = readFileSync(join(platform.folder, path ?? ""));
    expect(whole.includes("session_info.json")).toBe(true);
    for (const trace of ["session_info.json", "PK\u0003\u0004", "noise.bin"])
      expect(atRest.includes(trace)).toBe(false);
  });
});

describe("a forged archive", () => {
  /**
   * Fetches it and returns the number of bytes received before the failure, or null after a complete
   * download.
   */
  async function receivedBytes(platform: FilePlatform, { id }: Export): Promise<number | null> {
    const reply = await fetch(downloadUrl(platform, id)).catch(() => null);
    let received = 0;
    try {
      for await (const piece of reply?.body ?? []) received += piece.length;
      return reply === null || reply.status >= 500 ? 0 : null;
    } catch {
      return received;
    }
  }

  test.each([
    ["at its beginning", 0],
    ["in the middle", 0.5],
    ["at its very end", 1],
  ])("%s never downloads completely, and no forged byte is sent", async (_, where) => {
    const { platform, record } = await platformWithExport();
    await using _platform = platform;
    const path = join(
      platform.folder,
      platform.stored().find((one) => one.endsWith(record.archive?.blobId ?? "?")) ?? "",
    );
    const atRest = readFileSync(path);
    const at = Math.floor((atRest.length - 1) * where);
    atRest.writeUInt8(atRest.readUInt8(at) ^ 1, at);
    writeFileSync(path, atRest);
    const received = await receivedBytes(platform, record);
    expect(received).not.toBeNull();
    expect(received).toBeLessThanOrEqual(at);
    // The server still runs.
    expect((await fetch(`${platform.service.url}/livez`)).status).toBe(200);
  });

  test("truncated, or swapped with another one, never downloads completely", async () => {
    const { platform, ann, record } = await platformWithExport();
    await using _platform = platform;
    const pathOf = (blobId: string | undefined) =>
      join(platform.folder, platform.stored().find((one) => one.endsWith(blobId ?? "?")) ?? "");
    const [path, whole] = [pathOf(record.archive?.blobId), readFileSync(pathOf(record.archive?.blobId))];
    const chunk = 64 * 1024 + 16;
    for (const length of [whole.length - 1, 32 + chunk, 40, 0]) {
      writeFileSync(path, whole.subarray(0, length));
      expect(await receivedBytes(platform, record)).not.toBeNull();
    }
    const { store } = platform.service;
    const other = await waitForExport(store, await requestExport(store, ann, "full", { includeFiles: true }));
    writeFileSync(path, readFileSync(pathOf(other.archive?.blobId)));
    expect(await receivedBytes(platform, record)).toBe(0);
    writeFileSync(path, whole);
    expect(await receivedBytes(platform, record)).toBeNull();
  });
});
