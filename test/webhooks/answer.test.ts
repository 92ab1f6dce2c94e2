import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readBeginning } from "../../src/webhooks/post.ts";

const inChunks = (text: string, size: number): Readable => {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / size);
  return Readable.from(
    Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)),
  );
};

test("the first kilobyte of an answer is stored", async () => {
  expect(await readBeginning(inChunks("a".repeat(5_000), 700))).toBe("a".repeat(1_024));
  expect(await readBeginning(Readable.from([]))).toBe("");
});

test("an incomplete character at its end is left out, and characters that no database stores are replaced", async () => {
  expect(await readBeginning(inChunks(`${"a".repeat(1_023)}ü`, 100))).toBe("a".repeat(1_023));
  expect(await readBeginning(Readable.from([Buffer.from([0x61, 0, 0xff])]))).toBe("a\ufffd\ufffd");
});

test("at most 64 kB are read of an answer of any size", async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 16_384;
      yield Buffer.alloc(16_384, "x");
    }
  }
  await readBeginning(Readable.from(endless(), { highWaterMark: 1 }));
  expect(read).toBeLessThanOrEqual(2 * 65_536);
});

test("the part before a broken connection is stored", async () => {
  async function* breaking() {
    yield Buffer.from("so far");
    throw new Error("reset");
  }
  expect(await readBeginning(Readable.from(breaking()))).toBe("so far");
});
