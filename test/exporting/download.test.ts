import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Export } from "../../src/core/exports/export.ts";
import { type FileTown, fileTown, uploaded } from "../files/files-rig.ts";
import type { Person } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { ask, ended, linkOf, unzipped } from "./export-rig.ts";

/** A town with one finished export of some megabytes, which nothing compresses. */
async function townWithExport(): Promise<{ readonly town: FileTown; readonly ann: Person; readonly made: Export }> {
  const town = await fileTown("sqlite", { idle: false });
  const ann = await town.service.person();
  const noise = Uint8Array.from({ length: 2_000_000 }, (_, at) => (at * at * 31 + (at >> 7)) % 256);
  const { id: file_id } = await uploaded(town, ann, noise, "noise.bin");
  const { body } = await ann.v2("task.create", { message: { content: [{ type: "file", file_id }] } });
  await untilStatus(town.service.store, body["task_id"], "stopped");
  const made = await ended(town.service.store, await ask(town.service.store, ann, "full", { includeFiles: true }));
  return { town, ann, made };
}

describe("the link of an archive", () => {
  let town: FileTown;
  let made: Export;
  let whole: Buffer;
  beforeAll(async () => {
    ({ town, made } = await townWithExport());
    whole = Buffer.from(await (await fetch(linkOf(town, made.id))).arrayBuffer());
  });
  afterAll(() => town[Symbol.asyncDispose]());

  test("gives the archive as a file to save, which nobody keeps and no browser runs", async () => {
    const reply = await fetch(linkOf(town, made.id));
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="export-${made.id}.zip"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      "content-length": `${made.archive?.bytes}`,
      etag: `"${made.archive?.sha256}"`,
    });
    expect((await unzipped(Buffer.from(await reply.arrayBuffer()))).names.length).toBe(13);
  });

  test("answers HEAD with the same headers and no body", async () => {
    const [head, get] = [await fetch(linkOf(town, made.id), { method: "HEAD" }), await fetch(linkOf(town, made.id))];
    await get.body?.cancel();
    const told = ({ headers }: Response) =>
      ["content-length", "content-type", "etag", "content-disposition"].map((name) => headers.get(name));
    expect([head.status, told(head), await head.text()]).toEqual([200, told(get), ""]);
  });

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=65535-65536", 65_535, 65_537],
    ["bytes=1000000-1500000", 1_000_000, 1_500_001],
    ["bytes=-10", -10, undefined],
    ["bytes=2000000-", 2_000_000, undefined],
  ])("goes on where a download broke off: %s", async (range, start, end) => {
    const reply = await fetch(linkOf(town, made.id), { headers: { range } });
    const part = Buffer.from(await reply.arrayBuffer());
    expect([reply.status, part.equals(whole.subarray(start, end))]).toEqual([206, true]);
    expect(reply.headers.get("content-range")).toMatch(new RegExp(`^bytes \\d+-\\d+/${whole.length}$`));
  });

  test("refuses a part that is not there", async () => {
    const reply = await fetch(linkOf(town, made.id), { headers: { range: `bytes=${whole.length}-` } });
    expect([reply.status, reply.headers.get("content-range")]).toEqual([416, `bytes */${whole.length}`]);
  });

  test("is good for 10 minutes, for this export alone, and only as it was signed", async () => {
    const { store } = town.service;
    const status = async (url: string, method = "GET") => {
      const reply = await fetch(url, { method });
      await reply.body?.cancel();
      return reply.status;
    };
    const now = Date.now();
    expect(await status(linkOf(town, made.id, now - 590_000))).toBe(200);
    expect(await status(linkOf(town, made.id, now - 601_000))).toBe(403);
    const link = linkOf(town, made.id, now);
    expect(await status(`${link.slice(0, -1)}${link.endsWith("A") ? "E" : "A"}`)).toBe(403);
    const other = await ask(store, { accountId: made.requestedBy, spaceId: made.spaceId }, "tasks");
    expect(await status(link.replace(made.id, other))).toBe(403);
    const later = String(Number(link.split("/").at(-2)) + 60);
    expect(await status(link.split("/").with(-2, later).join("/"))).toBe(403);
    expect(await status(link.replace("/exports/", "/downloads/"))).toBe(403);
    for (const method of ["POST", "PUT", "DELETE"]) expect(await status(link, method)).toBe(405);
    expect(await status(linkOf(town, "Vn8Qd2LkTz5hXw3BsRmYpC", now))).toBe(404);
  });

  test("comes whole over HTTP/2 too", async () => {
    const session = connectHttp2(town.service.url);
    const stream = session.request({ ":path": new URL(linkOf(town, made.id)).pathname });
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part);
    session.close();
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });

  test("is encrypted where it lies", () => {
    const path = town.stored().find((one) => one.endsWith(made.archive?.blobId ?? "?"));
    const atRest = readFileSync(join(town.folder, path ?? ""));
    expect(whole.includes("session_info.json")).toBe(true);
    for (const trace of ["session_info.json", "PK\u0003\u0004", "noise.bin"]) expect(atRest.includes(trace)).toBe(false);
  });
});

describe("a forged archive", () => {
  /** Fetches it; answers what came before it was cut, or null when it came to a clean end. */
  async function cutAfter(town: FileTown, { id }: Export): Promise<number | null> {
    const reply = await fetch(linkOf(town, id)).catch(() => null);
    let came = 0;
    try {
      for await (const piece of reply?.body ?? []) came += piece.length;
      return reply === null || reply.status >= 500 ? 0 : null;
    } catch {
      return came;
    }
  }

  test.each([
    ["at its beginning", 0],
    ["in the middle", 0.5],
    ["at its very end", 1],
  ])("%s never comes to a clean end, and nothing of the forged part comes", async (_, where) => {
    const { town, made } = await townWithExport();
    await using _town = town;
    const path = join(town.folder, town.stored().find((one) => one.endsWith(made.archive?.blobId ?? "?")) ?? "");
    const atRest = readFileSync(path);
    const at = Math.floor((atRest.length - 1) * where);
    atRest.writeUInt8(atRest.readUInt8(at) ^ 1, at);
    writeFileSync(path, atRest);
    const came = await cutAfter(town, made);
    expect(came).not.toBeNull();
    expect(came).toBeLessThanOrEqual(at);
    // The server lives on.
    expect((await fetch(`${town.service.url}/livez`)).status).toBe(200);
  });

  test("cut short, or another's, never comes to a clean end", async () => {
    const { town, ann, made } = await townWithExport();
    await using _town = town;
    const pathOf = (blobId: string | undefined) => join(town.folder, town.stored().find((one) => one.endsWith(blobId ?? "?")) ?? "");
    const [path, whole] = [pathOf(made.archive?.blobId), readFileSync(pathOf(made.archive?.blobId))];
    const chunk = 64 * 1024 + 16;
    for (const kept of [whole.length - 1, 32 + chunk, 40, 0]) {
      writeFileSync(path, whole.subarray(0, kept));
      expect(await cutAfter(town, made)).not.toBeNull();
    }
    const { store } = town.service;
    const other = await ended(store, await ask(store, ann, "full", { includeFiles: true }));
    writeFileSync(path, readFileSync(pathOf(other.archive?.blobId)));
    expect(await cutAfter(town, made)).toBe(0);
    writeFileSync(path, whole);
    expect(await cutAfter(town, made)).toBeNull();
  });
});
