import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { elementsMax } from "../../../src/core/json.ts";
import { HealthCheckRequestSchema } from "../../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { decompress } from "../../../src/http/bounds/bound.ts";
import { bodyChecker, checkBody, prepareBody } from "../../../src/http/bounds/check.ts";

const MiB = 1024 ** 2;

/** Checks bodies, and the threads that it has started. */
function openChecker(idleMs = 60_000) {
  const workers: Worker[] = [];
  const check = bodyChecker(() => {
    const worker = new Worker(new URL("../../../src/http/bounds/check-worker.ts", import.meta.url), {
      execArgv: [],
      env: {},
    });
    workers.push(worker);
    return worker;
  }, idleMs);
  return {
    check,
    workers,
    [Symbol.asyncDispose]: async () => void (await Promise.all(workers.map((worker) => worker.terminate()))),
  };
}

/** In separate memory, behind other bytes. */
const behind = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(5 + text.length);
  new TextEncoder().encodeInto(text, bytes.subarray(5));
  return bytes.subarray(5);
};

describe("a check in a thread", () => {
  test("moves the bytes there and back, without a copy that stays, and cuts white space at the end", async () => {
    await using checker = openChecker();
    const text = `{"a":"${"x".repeat(2 * MiB)}"}`;
    const bytes = behind(`${text} \n`);
    const checked = await checker.check(bytes, null);
    expect([bytes.length, checked.byteOffset, Buffer.from(checked).toString() === text]).toEqual([
      0,
      5,
      true,
    ]);
    expect(() => checkBody(checked, null)).not.toThrow();
  });

  test.each([
    [
      "too many members",
      `[${"1,".repeat(elementsMax)}1]`,
      "the body has more than 100000 members and list items",
    ],
    [
      "too long names",
      `{${Array.from({ length: 2100 }, (_, at) => `"${String(at).padStart(1024)}":1`)}}`,
      "the names of all members have",
    ],
    ["nesting", "[".repeat(101), "the body is nested more than 100 deep"],
  ])("refuses %s with the text of a check on the main thread", async (_what, text, refusal) => {
    await using checker = openChecker();
    expect(() => checkBody(behind(text), null)).toThrow(refusal);
    const checked = await checker.check(behind(text), null);
    expect(() => checkBody(checked, null)).toThrow(refusal);
  });

  test.each([
    [MiB, false],
    [MiB + 1, true],
  ])("has a body of %i bytes: %s", async (length, isMoved) => {
    const bytes = new Uint8Array(length).fill(0x31);
    const prepared = await prepareBody(bytes, null, undefined);
    // Memory moves to a thread.
    expect([bytes.buffer.detached, prepared.length]).toEqual([isMoved, length]);
  });

  test("refuses what is not UTF-8, and binary messages by their type", async () => {
    await using checker = openChecker();
    const wrong = await checker.check(new Uint8Array([0x22, 0xff, 0x22]), null);
    expect(() => checkBody(wrong, null)).toThrow("the body is not valid UTF-8");
    const fields = await checker.check(
      new Uint8Array(Buffer.alloc(2 * elementsMax + 2, Buffer.from([0x7a, 0]))),
      HealthCheckRequestSchema,
    );
    expect(() => checkBody(fields, HealthCheckRequestSchema)).toThrow(
      "the message has more than 100000 fields",
    );
  });

  test("uses two threads, which are started by the first bodies and end when idle", async () => {
    await using checker = openChecker(1);
    expect(checker.workers).toHaveLength(0);
    await Promise.all([1, 2, 3, 4].map(() => checker.check(behind("[1]"), null)));
    expect(checker.workers).toHaveLength(2);
    await Promise.all(checker.workers.map((worker) => worker.threadId === -1 || once(worker, "exit")));
    expect(await checker.check(behind("[1]"), null)).toHaveLength(3);
  });

  test("is refused with 503 when the thread dies, and the next one gets a new thread", async () => {
    await using checker = openChecker();
    const check = checker.check(behind("[1]"), null);
    void checker.workers[0]?.terminate();
    await expect(check).rejects.toMatchObject({ reason: "unavailable", retryAfter: 1 });
    expect(await checker.check(behind("[1]"), null)).toHaveLength(3);
    expect(checker.workers).toHaveLength(2);
  });
});

describe.each([
  ["gzip", compressionGzip, (bytes: Buffer) => gzipSync(bytes)],
  ["br", compressionBrotli, (bytes: Buffer) => brotliCompressSync(bytes)],
])("a message that is compressed by %s", (_name, compression, compress) => {
  const bound = { maxBytes: 64 * MiB, name: "a test" };
  const inflated = async (bytes: Buffer) =>
    (await decompress(compress(bytes), compression, bound, undefined)).length;

  test("may be compressed any number of times below 1 MiB", async () => {
    expect(await inflated(Buffer.alloc(MiB))).toBe(MiB);
  });

  test("is refused beyond 1 MiB when it is compressed more than 100 times", async () => {
    await expect(inflated(Buffer.alloc(32 * MiB))).rejects.toMatchObject({
      reason: "too_large",
      message: "the message is compressed more than 100 times",
    });
    const noise = Buffer.concat([crypto.getRandomValues(Buffer.alloc(MiB / 32)), Buffer.alloc(2 * MiB)]);
    expect(await inflated(noise)).toBe(noise.length);
  });
});
