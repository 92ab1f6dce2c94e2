import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { compressAnswer } from "../../src/http/compression.ts";

const body = Buffer.from(
  JSON.stringify({ data: Array.from({ length: 200 }, (_, n) => ({ id: n, text: "a text of an answer" })) }),
);

describe("an answer", () => {
  test.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, br", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["GZIP", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["identity;q=0.5, gzip;q=0.1", "gzip"],
  ])("to a client that accepts %s is compressed with %s", async (accepted, coding) => {
    const compressed = await compressAnswer(body, accepted);
    expect(compressed?.coding).toBe(coding);
    const plain = coding === "br" ? brotliDecompressSync : gunzipSync;
    expect(plain(compressed?.bytes ?? "").equals(body)).toBe(true);
  });

  test.each([
    "",
    "identity",
    "deflate",
    "zstd",
    "gzip;q=0",
    "br;q=0, gzip;q=0.000",
    "gzip;q=2",
    "gzip;q=x",
    "*;q=0",
    ",,,",
  ])("to a client that accepts %j is sent as it is", async (accepted) => {
    expect(await compressAnswer(body, accepted)).toBeNull();
  });

  test("of less than 1 KiB or more than 16 MiB is sent as it is", async () => {
    expect(await compressAnswer(Buffer.alloc(1023, "a"), "gzip")).toBeNull();
    expect(await compressAnswer(Buffer.alloc(1024, "a"), "gzip")).not.toBeNull();
    expect(await compressAnswer(Buffer.alloc(16 * 1024 ** 2 + 1, "a"), "gzip")).toBeNull();
  });

  test("is sent as it is while 32 others are compressed, and compressed after them", async () => {
    const all = await Promise.all(Array.from({ length: 40 }, () => compressAnswer(body, "gzip")));
    expect(all.filter((compressed) => compressed !== null)).toHaveLength(32);
    expect(await compressAnswer(body, "gzip")).not.toBeNull();
  });
});
