import { connect as connectHttp2 } from "node:http2";
import { describe, expect } from "vitest";
import { fileLinks } from "../../../src/core/files/links.ts";
import {
  createSlot,
  type FilePlatform,
  fileDetail,
  openFilePlatform,
  sha256,
  uploadFile,
} from "../../files/files-rig.ts";
import { cipher } from "../../support/cipher.ts";
import { sampledTest } from "../../support/sampled.ts";
import type { Calling } from "../../support/service.ts";
import { quarterPast, stillClock } from "../../support/still-clock.ts";

const test = sampledTest(2);

const dayMs = 24 * 3_600_000;
const links = fileLinks(cipher, "https://platform.test");
const text = "Hello, ranges.";

const linkTo = (town: FilePlatform, id: string, now = Date.now()): string =>
  town.reach(links.download(id, now));

async function fileWithLink(town: FilePlatform, person: Calling, filename = "notes.txt"): Promise<string> {
  const { id } = await uploadFile(town, person, text, filename);
  return linkTo(town, id);
}

describe("a download link", () => {
  test("returns the bytes without a key, as an attachment that no browser runs", async () => {
    await using town = await openFilePlatform("sqlite");
    const link = await fileWithLink(town, await town.service.person());
    for (const headers of [{}, { "x-service-api-key": "stray", authorization: "Bearer stray" }] as const) {
      const reply = await fetch(link, { headers });
      expect([reply.status, await reply.text()]).toEqual([200, text]);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "content-type": "text/plain",
        "content-length": `${text.length}`,
        "content-disposition": 'attachment; filename="notes.txt"',
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "cross-origin-resource-policy": "cross-origin",
        "accept-ranges": "bytes",
        etag: `"${sha256(text)}"`,
      });
      expect(Date.parse(reply.headers.get("last-modified") ?? "")).toBeGreaterThan(Date.now() - 60_000);
    }
  });

  test.each([
    ["page.html", "text/html"],
    ["picture.svg", "image/svg+xml"],
    ["script.js", "text/javascript"],
    ["page.xhtml", "application/xhtml+xml"],
  ])("of %s is never rendered: attachment, nosniff, sandbox", async (filename, type) => {
    await using town = await openFilePlatform("sqlite");
    const reply = await fetch(await fileWithLink(town, await town.service.person(), filename));
    expect(reply.headers.get("content-type")).toBe(type);
    expect(reply.headers.get("content-disposition")).toMatch(/^attachment; /);
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  });

  test("names the file in UTF-8 and in ASCII", async () => {
    await using town = await openFilePlatform("sqlite");
    const reply = await fetch(await fileWithLink(town, await town.service.person(), `naïve "履歴".pdf`));
    expect(reply.headers.get("content-disposition")).toBe(
      `attachment; filename="na_ve ____.pdf"; filename*=UTF-8''na%C3%AFve%20%22%E5%B1%A5%E6%AD%B4%22.pdf`,
    );
  });

  test.each([
    ["bytes=0-4", 206, "Hello", "bytes 0-4/14"],
    ["bytes=7-", 206, "ranges.", "bytes 7-13/14"],
    ["bytes=-7", 206, "ranges.", "bytes 7-13/14"],
    ["bytes=0-99", 206, text, "bytes 0-13/14"],
    ["bytes=14-", 416, "", "bytes */14"],
    ["bytes=-0", 416, "", "bytes */14"],
    ["bytes=0-1,3-4", 200, text, null],
    ["bytes=4-1", 200, text, null],
    ["lines=0-1", 200, text, null],
  ])("with Range: %s answers %i", async (range, status, body, contentRange) => {
    await using town = await openFilePlatform("sqlite");
    const reply = await fetch(await fileWithLink(town, await town.service.person()), { headers: { range } });
    expect([reply.status, await reply.text(), reply.headers.get("content-range")]).toEqual([
      status,
      body,
      contentRange,
    ]);
    expect(reply.headers.get("content-length")).toBe(`${body.length}`);
  });

  test("returns a part only of the version that the client has, and no body when it has all bytes", async () => {
    await using town = await openFilePlatform("sqlite");
    const link = await fileWithLink(town, await town.service.person());
    const [etag, modified] = [`"${sha256(text)}"`, (await fetch(link)).headers.get("last-modified") ?? ""];
    const statusOf = async (headers: Record<string, string>) => (await fetch(link, { headers })).status;
    const range = "bytes=0-1";
    expect(await statusOf({ range, "if-range": etag })).toBe(206);
    expect(await statusOf({ range, "if-range": modified })).toBe(206);
    expect(await statusOf({ range, "if-range": '"other"' })).toBe(200);
    expect(await statusOf({ range, "if-range": `W/${etag}` })).toBe(200);
    expect(await statusOf({ "if-none-match": etag })).toBe(304);
    expect(await statusOf({ "if-none-match": `"x", W/${etag}` })).toBe(304);
    expect(await statusOf({ "if-none-match": "*" })).toBe(304);
    expect(await statusOf({ "if-none-match": '"other"' })).toBe(200);
  });

  test("answers HEAD with the head of the complete file", async () => {
    await using town = await openFilePlatform("sqlite");
    const link = await fileWithLink(town, await town.service.person());
    const head = await fetch(link, { method: "HEAD", headers: { range: "bytes=0-1" } });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "14", ""]);
    expect(head.headers.get("content-disposition")).toMatch(/^attachment/);
  });

  test("refuses other methods", async () => {
    await using town = await openFilePlatform("sqlite");
    const reply = await fetch(await fileWithLink(town, await town.service.person()), {
      method: "PUT",
      body: "x",
    });
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("works over HTTP/2", async () => {
    await using town = await openFilePlatform("sqlite");
    const { origin, pathname } = new URL(await fileWithLink(town, await town.service.person()));
    const session = connectHttp2(origin);
    const stream = session.request({ ":path": pathname, range: "bytes=0-4" });
    let body = "";
    for await (const chunk of stream) body += chunk;
    session.close();
    expect(body).toBe("Hello");
  });

  test("of an empty file returns nothing, and no part of it", async () => {
    await using town = await openFilePlatform("sqlite");
    const { id } = await uploadFile(town, await town.service.person(), "");
    const reply = await fetch(linkTo(town, id));
    expect([reply.status, reply.headers.get("content-length"), await reply.text()]).toEqual([200, "0", ""]);
    expect((await fetch(linkTo(town, id), { headers: { range: "bytes=0-" } })).status).toBe(416);
  });

  test("that is forged, of another kind or expired is refused", async () => {
    const clock = stillClock();
    await using town = await openFilePlatform("sqlite", { clock });
    const ann = await town.service.person();
    const [mine, other] = [await uploadFile(town, ann), await uploadFile(town, ann)];
    const link = linkTo(town, mine.id, clock.now());
    const until = Math.floor((quarterPast + 7 * dayMs) / 1000);
    const statuses = async (...urls: string[]) =>
      Promise.all(urls.map(async (url) => (await fetch(url)).status));
    expect(await statuses(link)).toEqual([200]);
    expect(
      await statuses(
        link.replace(mine.id, other.id),
        link.replace(`/${until}/`, `/${until + 1}/`),
        `${link}=`,
        mine.url.replace("/uploads/", "/downloads/"),
      ),
    ).toEqual([403, 403, 403, 403]);
    const old = linkTo(town, mine.id, clock.now() - 7 * dayMs - 1000);
    const reply = await fetch(old);
    expect([reply.status, await reply.json()]).toMatchObject([
      403,
      { ok: false, error: { code: "permission_denied" } },
    ]);
  });

  test("ends with its file: on deletion, on expiry before any sweep, and before the upload", async () => {
    const clock = stillClock();
    await using town = await openFilePlatform("sqlite", { clock });
    const ann = await town.service.person();
    const [deleted, expired, pending] = [
      await uploadFile(town, ann),
      await uploadFile(town, ann),
      await createSlot(town, ann),
    ];
    await ann.v2("file.delete", { file_id: deleted.id });
    const status = async (id: string) => (await fetch(linkTo(town, id, clock.now()))).status;
    expect([await status(deleted.id), await status(pending.id), await status("file-unknown")]).toEqual([
      404, 404, 404,
    ]);
    expect(await status(expired.id)).toBe(200);
    clock.step(2 * dayMs);
    expect(await status(expired.id)).toBe(404);
    expect(await fileDetail(ann, expired.id)).toMatchObject({ status: "deleted" });
  });

  test("is readable by pages of the configured origins", async () => {
    await using town = await openFilePlatform("sqlite", { env: { CORS_ORIGINS: "https://app.example" } });
    const link = await fileWithLink(town, await town.service.person());
    const { headers } = await fetch(link, { headers: { origin: "https://app.example" } });
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(headers.get("access-control-expose-headers")).toContain("Content-Disposition");
    const otherOrigin = await fetch(link, { headers: { origin: "https://evil.example" } });
    expect(otherOrigin.headers.get("access-control-allow-origin")).toBeNull();
  });
});
