import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { bucketRig, folderRig } from "./rig.ts";

const MiB = 1024 * 1024;
const never = new AbortController().signal;
const id = "4bYq2NPR9cUoXf7WmDkTzA";
const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Bytes in chunks as sockets deliver them. */
function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
const streamOf = (bytes: Buffer): Readable => Readable.from(chunks(bytes), { objectMode: false });

/** Yields this many bytes, then calls `stuck` and yields nothing more. */
function stalling(bytes: number, stuck: (stream: Readable) => void): Readable {
  let left = bytes;
  const stream = new Readable({
    read(size) {
      const next = Math.min(size, left);
      left -= next;
      if (next > 0) this.push(Buffer.alloc(next));
      else setImmediate(() => stuck(stream));
    },
  });
  return stream;
}

describe.each([
  { where: "a folder", open: folderRig },
  { where: "a bucket", open: bucketRig },
])("bytes in $where", ({ open }) => {
  test.each([
    0,
    1,
    65_536,
    5 * MiB,
    5 * MiB + 1,
    12 * MiB,
  ])("are read as they were put: %i of them", async (length) => {
    await using rig = await open();
    const bytes = randomBytes(length);
    await rig.blobs.put(id, streamOf(bytes), never);
    expect(digest(await buffer(await rig.blobs.read(id)))).toBe(digest(bytes));
    expect(rig.left()).toEqual([id]);
  });

  test.each([
    { start: 0, end: 1 },
    { start: 7, end: 7 },
    { start: 10, end: 99 },
    { start: 6 * MiB - 5, end: 6 * MiB - 1 },
  ])("are read in part, both ends included: $start to $end", async ({ start, end }) => {
    await using rig = await open();
    const bytes = randomBytes(6 * MiB);
    await rig.blobs.put(id, streamOf(bytes), never);
    const read = await buffer(await rig.blobs.read(id, { start, end }));
    expect(digest(read)).toBe(digest(bytes.subarray(start, end + 1)));
  });

  test("are replaced completely when they are put again", async () => {
    await using rig = await open();
    await rig.blobs.put(id, streamOf(Buffer.alloc(6 * MiB)), never);
    await rig.blobs.put(id, streamOf(Buffer.from("second")), never);
    expect(String(await buffer(await rig.blobs.read(id)))).toBe("second");
    expect(rig.left()).toEqual([id]);
  });

  test("are absent before they are put and after they were removed", async () => {
    await using rig = await open();
    const absent = { reason: "not_found", message: "file not found" };
    await expect(rig.blobs.read(id)).rejects.toMatchObject(absent);
    await rig.blobs.put(id, streamOf(Buffer.from("bytes")), never);
    await rig.blobs.remove(id);
    await expect(rig.blobs.read(id)).rejects.toMatchObject(absent);
    expect(rig.left()).toEqual([]);
    await rig.blobs.remove(id);
  });

  test.each([
    1,
    11 * MiB,
  ])("that are aborted after %i of them leave nothing, and their source is closed", async (length) => {
    await using rig = await open();
    const giveUp = new AbortController();
    const source = stalling(length, () => giveUp.abort(new Error("no longer wanted")));
    await expect(rig.blobs.put(id, source, giveUp.signal)).rejects.toThrow();
    expect(source.destroyed).toBe(true);
    expect(rig.left()).toEqual([]);
  });

  test.each([
    1,
    11 * MiB,
  ])("whose source fails after %i of them leave nothing, and the error is the source's", async (length) => {
    await using rig = await open();
    const fault = new Error("the source broke");
    await expect(
      rig.blobs.put(
        id,
        stalling(length, (stream) => stream.destroy(fault)),
        never,
      ),
    ).rejects.toBe(fault);
    expect(rig.left()).toEqual([]);
  });

  test.each([1, 11 * MiB])("that are cut off after %i of them leave nothing", async (length) => {
    await using rig = await open();
    await expect(
      rig.blobs.put(
        id,
        stalling(length, (stream) => stream.destroy()),
        never,
      ),
    ).rejects.toThrow();
    expect(rig.left()).toEqual([]);
  });

  test("are not begun after an abort", async () => {
    await using rig = await open();
    const source = streamOf(Buffer.from("bytes"));
    await expect(rig.blobs.put(id, source, AbortSignal.abort())).rejects.toThrow();
    expect(source.destroyed).toBe(true);
    expect(rig.left()).toEqual([]);
  });

  test("that a dead process began are removed, and no other process's are", async () => {
    await using rig = await open();
    const [dead, longer] = [`${id}_1`, `${id}_11`];
    await rig.die(dead);
    await rig.die(longer);
    await rig.blobs.put(id, streamOf(Buffer.from("alive")), never);
    expect(rig.left()).toHaveLength(3);
    await rig.blobs.remove(dead);
    expect(rig.left().toSorted()).toEqual([id, expect.stringContaining(longer)]);
    await rig.blobs.put(longer, streamOf(Buffer.from("again")), never);
    await rig.blobs.remove(longer);
    expect(rig.left()).toEqual([id]);
  });

  test("many at a time do not interfere", async () => {
    await using rig = await open();
    const all = Array.from({ length: 40 }, (_, index) => ({
      name: `blob-${index}`,
      bytes: randomBytes(1000 + index),
    }));
    await Promise.all(all.map(({ name, bytes }) => rig.blobs.put(name, streamOf(bytes), never)));
    for (const { name, bytes } of all)
      expect(digest(await buffer(await rig.blobs.read(name)))).toBe(digest(bytes));
  });

  test.each([
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "a\0b",
    "%2e%2e",
    "x".repeat(129),
    "ä",
  ])("have no id like %j", async (bad) => {
    await using rig = await open();
    const fault = "not the id of a blob";
    await expect(rig.blobs.put(bad, streamOf(Buffer.from("bytes")), never)).rejects.toThrow(fault);
    await expect(rig.blobs.read(bad)).rejects.toThrow(fault);
    await expect(rig.blobs.remove(bad)).rejects.toThrow(fault);
    expect(rig.left()).toEqual([]);
  });
});
