import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkBytes, createSeal, openArchive, storedSizeOf } from "../../../src/core/exports/seal.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import { cipher } from "../../support/cipher.ts";

const exportId = "Qf3mYk8TzN2vBw9HsLpRcX";
const salt = 32;
const sealedChunk = chunkBytes + 16;

/** Lengths around the edges of chunks, where mistakes are likely. */
const lengths = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([chunks, by]) => chunks * chunkBytes + by),
);
const plaintext = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 251));

/** The sealed archive of a writer that sends parts of this size. */
async function sealArchive(plain: Buffer, part = 10_000, id = exportId): Promise<Buffer> {
  const parts = Array.from({ length: Math.ceil(plain.length / part) }, (_, at) =>
    plain.subarray(at * part, (at + 1) * part),
  );
  return buffer(Readable.from(parts, { objectMode: false }).pipe(createSeal(cipher, id, systemRandom)));
}

/** Opens it from a storage that reads in small parts. */
const openSealed = async (
  atRest: Buffer,
  bytes: number,
  range?: { start: number; end: number },
  id = exportId,
): Promise<Buffer> => {
  const read = async (_: string, part = { start: 0, end: atRest.length - 1 }) => {
    const found = atRest.subarray(part.start, part.end + 1);
    const size = 7_001;
    return Readable.from(
      Array.from({ length: Math.ceil(found.length / size) }, (_, at) =>
        found.subarray(at * size, (at + 1) * size),
      ),
      { objectMode: false },
    );
  };
  return buffer(await openArchive(cipher, { read }, { exportId: id, blobId: "b", bytes }, range));
};

describe("an archive at rest", () => {
  test("opens to the sealed content for any length and any parts; its size is known in advance", async () => {
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 500, max: 200_000 }), async (length, part) => {
        const plain = plaintext(length);
        const atRest = await sealArchive(plain, part);
        expect(atRest.length).toBe(storedSizeOf({ exportId, blobId: "b", bytes: length }));
        expect((await openSealed(atRest, length)).equals(plain)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("opens at any range", async () => {
    await fc.assert(
      fc.asyncProperty(
        lengths.filter((length) => length > 0),
        fc.nat(),
        fc.nat(),
        async (length, a, b) => {
          const plain = plaintext(length);
          const [start = 0, end = 0] = [a % length, b % length].toSorted((x, y) => x - y);
          expect(
            (await openSealed(await sealArchive(plain), length, { start, end })).equals(
              plain.subarray(start, end + 1),
            ),
          ).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("with one changed bit fails, and returns nothing of the changed chunk", async () => {
    const length = 2 * chunkBytes + 100;
    const plain = plaintext(length);
    const whole = await sealArchive(plain);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 }), async (at, bit) => {
        const forged = Buffer.from(whole);
        forged.writeUInt8(forged.readUInt8(at) ^ (1 << bit), at);
        const received: Buffer[] = [];
        const reading = async () => {
          const read = async (_: string, part = { start: 0, end: forged.length - 1 }) =>
            Readable.from([forged.subarray(part.start, part.end + 1)], { objectMode: false });
          for await (const piece of await openArchive(
            cipher,
            { read },
            { exportId, blobId: "b", bytes: length },
          ))
            received.push(piece);
        };
        await expect(reading()).rejects.toThrow();
        const before = at < salt ? 0 : Math.floor((at - salt) / sealedChunk) * chunkBytes;
        expect(Buffer.concat(received).equals(plain.subarray(0, before))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test("truncated at any position fails, also if its row states the shorter length", async () => {
    const length = 2 * chunkBytes + 100;
    const whole = await sealArchive(plaintext(length));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (kept) => {
        await expect(openSealed(whole.subarray(0, kept), length)).rejects.toThrow();
      }),
      { numRuns: 60 },
    );
    await expect(openSealed(whole.subarray(0, salt + sealedChunk), chunkBytes)).rejects.toThrow();
    await expect(openSealed(whole, 2 * chunkBytes)).rejects.toThrow();
  });

  test("with reordered or repeated chunks fails", async () => {
    const length = 3 * chunkBytes;
    const whole = await sealArchive(plaintext(length));
    const chunk = (at: number) => whole.subarray(salt + at * sealedChunk, salt + (at + 1) * sealedChunk);
    const head = whole.subarray(0, salt);
    for (const order of [
      [1, 0, 2],
      [0, 0, 2],
      [0, 2, 1],
      [2, 1, 0],
    ]) {
      await expect(openSealed(Buffer.concat([head, ...order.map(chunk)]), length)).rejects.toThrow();
    }
    expect((await openSealed(Buffer.concat([head, ...[0, 1, 2].map(chunk)]), length)).length).toBe(length);
  });

  test("does not open as another export's archive, nor with chunks of another archive of the same export", async () => {
    const length = 2 * chunkBytes;
    const [one, other] = [await sealArchive(plaintext(length)), await sealArchive(plaintext(length))];
    await expect(openSealed(one, length, undefined, "Vn8Qd2LkTz5hXw3BsRmYpC")).rejects.toThrow();
    await expect(
      openSealed(
        Buffer.concat([one.subarray(0, salt + sealedChunk), other.subarray(salt + sealedChunk)]),
        length,
      ),
    ).rejects.toThrow();
    expect(one.equals(other), "the same archive is never sealed to the same bytes").toBe(false);
  });
});
