import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { beginningOf } from "../../src/delivery/answer.ts";

const inChunks = (text: string, size: number): Readable => {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
};

test("the first kilobyte of an answer is kept", async () => {
  expect(await beginningOf(inChunks("a".repeat(5_000), 700))).toBe("a".repeat(1_024));
  expect(await beginningOf(Readable.from([]))).toBe("");
});

test("half a character at its end is left out, and what no database keeps is shown as unreadable", async () => {
  expect(await beginningOf(inChunks(`${"a".repeat(1_023)}ü`, 100))).toBe("a".repeat(1_023));
  expect(await beginningOf(Readable.from([Buffer.from([0x61, 0, 0xff])]))).toBe("a\ufffd\ufffd");
});

test("no more than 64 kB are read, however much there is", async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 16_384;
      yield Buffer.alloc(16_384, "x");
    }
  }
  await beginningOf(Readable.from(endless(), { highWaterMark: 1 }));
  expect(read).toBeLessThanOrEqual(2 * 65_536);
});

test("what came before it broke off is kept", async () => {
  async function* breaking() {
    yield Buffer.from("so far");
    throw new Error("reset");
  }
  expect(await beginningOf(Readable.from(breaking()))).toBe("so far");
});
