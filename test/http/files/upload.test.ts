import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from "vitest";
import {
  createSlot,
  type FilePlatform,
  fileDetail,
  openFilePlatform,
  openPut,
  put,
  quotaUsed,
  readBlobTotals,
  until,
  uploadFile,
} from "../../files/files-rig.ts";
import { describeOnOne } from "../../support/database.ts";
import { sampledTest } from "../../support/sampled.ts";
import { stillClock } from "../../support/still-clock.ts";

const test = sampledTest(2);

const hash = (algorithm: string, bytes: string) => createHash(algorithm).update(bytes).digest("base64");

/** Nothing of an upload is left, and its slot is unchanged. */
async function expectNothing(town: Awaited<ReturnType<typeof openFilePlatform>>): Promise<void> {
  await until(async () => (await readBlobTotals(town.database)).blobs.length === 0);
  expect(town.stored()).toEqual([]);
  expect((await readBlobTotals(town.database)).isExact).toBe(true);
}

/** A PUT over HTTP/2 with prior knowledge. */
async function put2(url: string, chunks: readonly string[], how: "end" | "cut" = "end"): Promise<number> {
  const { origin, pathname } = new URL(url);
  const session = connectHttp2(origin);
  try {
    const stream = session.request({ ":method": "PUT", ":path": pathname });
    const status = new Promise<number>((resolve, reject) => {
      stream.once("response", (headers) => resolve(Number(headers[":status"])));
      stream.once("close", () => reject(new Error("closed")));
    });
    status.catch(() => undefined);
    for (const chunk of chunks) await new Promise((resolve) => stream.write(chunk, resolve));
    if (how === "end") stream.end();
    else stream.close(8);
    return await status;
  } finally {
    session.close();
  }
}

describeOnOne("an upload", (database) => {
  test("that is cut off leaves no bytes and uses no quota, and the slot accepts the next one", async () => {
    await using town = await openFilePlatform(database);
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    for (const headers of [{ "content-length": 100 }, {}]) {
      const cut = openPut(url, headers);
      await cut.send("half");
      await until(() => town.stored().length === 1);
      cut.cut();
      await expectNothing(town);
    }
    expect(await fileDetail(ann, id)).toMatchObject({ status: "pending", bytes: null });
    expect((await put(url, "whole")).status).toBe(200);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: 5 });
  });

  test("is final: the same bytes again are accepted, others are refused", async () => {
    await using town = await openFilePlatform(database);
    const ann = await town.service.person();
    const { id, url } = await uploadFile(town, ann, "Hello.");
    expect(await put(url, "Hello.")).toMatchObject({
      status: 200,
      body: { ok: true, file: { id, bytes: 6 } },
    });
    for (const other of ["Hullo.", "Hello", "Hello. And more."]) {
      expect(await put(url, other)).toMatchObject({
        status: 409,
        body: { error: { code: "already_exists" } },
      });
    }
    const chunked = new Response("Hello. And more.").body as ReadableStream;
    expect(await put(url, chunked)).toMatchObject({ status: 409 });
    expect((await readBlobTotals(town.database)).blobs).toHaveLength(1);
    expect(await quotaUsed(town.service.store, ann)).toBe(6);
  });

  test("of twenty at once for one slot exactly one succeeds, and nothing of the others is left", async () => {
    await using town = await openFilePlatform(database);
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    const texts = Array.from({ length: 20 }, (_, i) => `text ${i % 4}`);
    const answers = await Promise.all(texts.map((text) => put(url, text)));
    const [winner] = new Set(answers.flatMap(({ status }, i) => (status === 200 ? [texts[i]] : [])));
    expect(answers.map(({ status }) => status)).toEqual(texts.map((text) => (text === winner ? 200 : 409)));
    await until(async () => (await readBlobTotals(town.database)).blobs.length === 1);
    expect(town.stored()).toHaveLength(1);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: 6 });
    expect(await quotaUsed(town.service.store, ann)).toBe(6);
  });

  test("that would exceed the account's quota is refused, with or without a length, and closes the slot", async () => {
    await using town = await openFilePlatform(database, { env: { FILE_QUOTA: "1KiB" } });
    const ann = await town.service.person();
    await uploadFile(town, ann, "x".repeat(1000));
    for (const body of ["y".repeat(25), new Response("y".repeat(25)).body as ReadableStream]) {
      const { id, url } = await createSlot(town, ann);
      const { status, body: said } = await put(url, body);
      expect([status, said.ok, said.error.code]).toEqual([413, false, "invalid_argument"]);
      const file = await fileDetail(ann, id);
      expect([file.status, file.error_message]).toEqual([
        "error",
        expect.stringContaining("QuotaExceededError"),
      ]);
      expect(await put(url, "z")).toMatchObject({ status: 412 });
    }
    const chunked = await createSlot(town, ann);
    expect((await put(chunked.url, new Response("y".repeat(24)).body as ReadableStream)).status).toBe(200);
    expect(await quotaUsed(town.service.store, ann)).toBe(1024);
    expect((await readBlobTotals(town.database)).isExact).toBe(true);
  });
});

describe("an upload", () => {
  /** For tests that look only at their own file. */
  let shared: FilePlatform;
  beforeAll(async () => {
    shared = await openFilePlatform("sqlite");
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  test.each([
    ["no type", {}],
    ["any type", { "content-type": "application/json" }],
    ["a type that is none", { "content-type": "what?" }],
    ["a stray key", { "x-service-api-key": "sk-stray", authorization: "Bearer stray" }],
  ])("is accepted with %s", async (_, headers: Record<string, string>) => {
    const ann = await shared.service.person();
    const { id, url } = await createSlot(shared, ann);
    expect((await put(url, new TextEncoder().encode("{not json"), headers)).status).toBe(200);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: 9 });
  });

  test("may be empty", async () => {
    const ann = await shared.service.person();
    const { id, url } = await createSlot(shared, ann);
    expect((await put(url, "")).status).toBe(200);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: 0 });
  });

  test("works over HTTP/2, and a stream that is reset stores nothing", async () => {
    await using town = await openFilePlatform("sqlite");
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    await expect(put2(url, ["half"], "cut")).rejects.toThrow();
    await expectNothing(town);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "pending" });
    expect(await put2(url, ["who", "le"])).toBe(200);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: 5 });
  });

  test.each(["GET", "HEAD", "POST", "DELETE", "OPTIONS"])("is no %s", async (method) => {
    const { url } = await createSlot(shared, await shared.service.person());
    const reply = await fetch(url, { method });
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "PUT"]);
  });

  test("is bound to its link: file, expiry and signature", async () => {
    await using town = await openFilePlatform("sqlite");
    const ann = await town.service.person();
    const [one, other] = [await createSlot(town, ann), await createSlot(town, ann)];
    const forged = [
      one.url.replace(one.id, other.id),
      one.url.replace(`/${one.until}/`, `/${one.until + 60}/`),
      `${one.url.slice(0, -1)}${one.url.endsWith("A") ? "Q" : "A"}`,
      `${one.url}=`,
      one.url.replace("/uploads/", "/downloads/"),
    ];
    const statuses = await Promise.all(
      forged.map(async (url) => (await fetch(url, { method: "PUT", body: "x" })).status),
    );
    expect(statuses).toEqual([403, 403, 403, 403, 405]);
    expect(await put(forged[0] ?? "", "x")).toMatchObject({
      body: { ok: false, error: { code: "permission_denied" } },
    });
    expect(town.stored()).toEqual([]);
  });

  test("must begin within three minutes, and may continue after them", async () => {
    const clock = stillClock();
    await using town = await openFilePlatform("sqlite", { clock });
    const ann = await town.service.person();
    const [late, slow] = [await createSlot(town, ann), await createSlot(town, ann)];
    clock.step(179_000);
    const going = openPut(slow.url);
    await going.send("begun");
    await until(() => town.stored().length === 1);
    clock.step(2_000);
    expect(await put(late.url, "x")).toMatchObject({ status: 403 });
    expect(await fileDetail(ann, late.id)).toMatchObject({
      status: "error",
      error_message: "upload window expired",
    });
    expect(await fileDetail(ann, slow.id)).toMatchObject({ status: "pending" });
    // As often as its lease is renewed.
    for (let i = 0; i < 12; i += 1) {
      await clock.advance(15_000);
      await until(
        async () =>
          Number((await town.service.store.files.byId(slow.id))?.uploadUntil) >= clock.now() + 45_000,
      );
    }
    expect(await fileDetail(ann, slow.id)).toMatchObject({ status: "pending" });
    going.end();
    expect(await going.answer).toMatchObject({ status: 200 });
    expect(await fileDetail(ann, slow.id)).toMatchObject({ status: "uploaded", bytes: 5 });
  });

  test("that is cut off after its time window closes the slot at once", async () => {
    const clock = stillClock();
    await using town = await openFilePlatform("sqlite", { clock });
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    clock.step(179_000);
    const cut = openPut(url);
    await cut.send("begun");
    await until(() => town.stored().length === 1);
    clock.step(2_000);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "pending" });
    cut.cut();
    await until(async () => (await fileDetail(ann, id)).status === "error");
  });

  test("whose Content-Length exceeds the limit is refused before its first byte, and closes the slot", async () => {
    await using town = await openFilePlatform("sqlite", { env: { FILE_LIMIT: "1KiB" } });
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    const held = openPut(url, { "content-length": 1025 });
    expect(await held.answer).toMatchObject({
      status: 413,
      body: { ok: false, error: { message: expect.stringContaining("QuotaExceededError") } },
    });
    expect(await fileDetail(ann, id)).toMatchObject({
      status: "error",
      error_message: expect.stringContaining("QuotaExceededError"),
    });
    held.cut();
    await expectNothing(town);
  });

  test("that exceeds the limit without a length is cut off with 413, which its client sees while it still sends", async () => {
    await using town = await openFilePlatform("sqlite", { env: { FILE_LIMIT: "1MiB" } });
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    const sending = openPut(url);
    let answered = false;
    void sending.answer.then(() => {
      answered = true;
    });
    const chunk = new Uint8Array(256 * 1024);
    while (!answered) await Promise.race([sending.send(chunk), sending.answer]);
    expect(await sending.answer).toMatchObject({ status: 413 });
    sending.cut();
    expect(await fileDetail(ann, id)).toMatchObject({ status: "error" });
    await expectNothing(town);
  });

  test("that exceeds the limit over HTTP/2 is answered with 413, and its connection stays open", async () => {
    await using town = await openFilePlatform("sqlite", { env: { FILE_LIMIT: "1KiB" } });
    const ann = await town.service.person();
    const [large, next] = [await createSlot(town, ann), await createSlot(town, ann)];
    const session = connectHttp2(new URL(large.url).origin);
    const put = (url: string, chunks: readonly string[]) => {
      const stream = session.request({ ":method": "PUT", ":path": new URL(url).pathname });
      for (const chunk of chunks) stream.write(chunk);
      return { stream, status: once(stream, "response").then(([headers]) => headers[":status"]) };
    };
    const refused = put(large.url, ["x".repeat(1000), "x".repeat(1000)]);
    expect(await refused.status).toBe(413);
    await once(refused.stream.resume(), "close");
    const taken = put(next.url, ["x"]);
    taken.stream.end();
    expect(await taken.status).toBe(200);
    session.close();
  });

  test("of exactly the limit is accepted", async () => {
    await using town = await openFilePlatform("sqlite", { env: { FILE_LIMIT: "1KiB" } });
    const { url } = await createSlot(town, await town.service.person());
    expect((await put(url, "x".repeat(1024))).status).toBe(200);
  });

  test("whose client keeps sending after a refusal is cut off", async () => {
    await using town = await openFilePlatform("sqlite");
    const { url } = await createSlot(town, await town.service.person());
    const { port, pathname } = new URL(`${url}x`);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const socket = connect(Number(port));
    socket.write(`PUT ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n`);
    const [said, closed] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    socket.once("data", (chunk) => said.resolve(String(chunk))).once("close", () => closed.resolve());
    socket.on("error", () => undefined);
    const feeding = setInterval(() => socket.write("x".repeat(1000)), 100);
    expect(await said.promise).toMatch(/^HTTP\/1.1 403 /);
    // The server waits for five seconds.
    for (let isOpen = true; isOpen; vi.advanceTimersByTime(1_000))
      isOpen = await Promise.race([closed.promise.then(() => false), turn().then(() => true)]);
    clearInterval(feeding);
    vi.useRealTimers();
  });

  const text = "Hello, digests.";
  test.each([
    ["Content-MD5", hash("md5", text), hash("md5", "other")],
    ["Digest", `unixsum=30637, SHA-256=${hash("sha256", text)}`, `sha-256=${hash("sha256", "other")}`],
    ["Digest", `SHA=${hash("sha1", text)},md5=${hash("md5", text)}`, `SHA=${hash("sha1", "other")}`],
    ["Content-Digest", `sha-512=:${hash("sha512", text)}:`, `sha-512=:${hash("sha512", "other")}:`],
    [
      "Content-Digest",
      `sha-256=:${hash("sha256", text)}:, crc32c=:AAAA:`,
      `sha-256=:${hash("sha256", text)}`,
    ],
    ["Content-MD5", hash("md5", text), "no base64"],
    ["Digest", "unixsum=30637", "sha-256"],
  ])("whose %s does not match its bytes is refused, and leaves the slot open", async (name, right, wrong) => {
    await using town = await openFilePlatform("sqlite");
    const ann = await town.service.person();
    const { id, url } = await createSlot(town, ann);
    const refused = await put(url, text, { [name]: wrong });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_argument", message: expect.stringContaining(name) } },
    });
    expect(await fileDetail(ann, id)).toMatchObject({ status: "pending" });
    await expectNothing(town);
    expect((await put(url, text, { [name]: right })).status).toBe(200);
  });

  test("is allowed for pages of the configured origins", async () => {
    await using town = await openFilePlatform("sqlite", { env: { CORS_ORIGINS: "https://app.example" } });
    const { url } = await createSlot(town, await town.service.person());
    const origin = { origin: "https://app.example" };
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: { ...origin, "access-control-request-method": "PUT" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "PUT"]);
    const { headers } = await put(url, "x", origin);
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
    const otherOrigin = await put(url, "x", { origin: "https://evil.example" });
    expect(otherOrigin.headers.get("access-control-allow-origin")).toBeNull();
  });
});
