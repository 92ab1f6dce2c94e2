import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { folderRig } from "./rig.ts";

const never = new AbortController().signal;
const put = (
  rig: { readonly blobs: import("../../src/core/files/blob.ts").Blobs },
  id: string,
  bytes = "bytes",
) => rig.blobs.put(id, Readable.from([Buffer.from(bytes)]), never);
/** The path of an id in a folder. */
function pathOf(folder: string, id: string): string {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find(
    (entry) => entry.isFile() && entry.name === id,
  );
  return join(found?.parentPath ?? "", id);
}

test("ids with a common prefix have separate subfolders, and only this user can read them", async () => {
  await using rig = await folderRig();
  for (let index = 0; index < 20; index++) await put(rig, `blob-of-one-minute-${index}`);
  const paths = readdirSync(rig.folder, { recursive: true }).filter((path) => String(path).includes("blob-"));
  for (const path of paths) expect(path).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{2}\/blob-of-one-minute-\d+$/);
  expect(new Set(paths.map((path) => dirname(String(path)))).size).toBeGreaterThan(15);
  const file = pathOf(rig.folder, "blob-of-one-minute-0");
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("bytes have no file name before they are complete", async () => {
  await using rig = await folderRig();
  let seen: readonly string[] = [];
  async function* source() {
    yield Buffer.alloc(3_000_000);
    seen = rig.left();
    yield Buffer.alloc(1);
  }
  await rig.blobs.put("whole", Readable.from(source()), never);
  expect(seen.filter((name) => name !== "whole.part")).toEqual([]);
  expect(rig.left()).toEqual(["whole"]);
});

test("a full disk is reported, without its paths, and nothing is left", async () => {
  await using rig = await folderRig();
  await put(rig, "full");
  const path = pathOf(rig.folder, "full");
  rmSync(path);
  // Every write there fails for lack of space.
  symlinkSync("/dev/full", `${path}.part`);
  const refusal = {
    reason: "unavailable",
    message: "the storage is full, try again later",
    cause: expect.objectContaining({ code: "ENOSPC" }),
  };
  await expect(put(rig, "full")).rejects.toMatchObject(refusal);
  expect(readdirSync(dirname(path))).toEqual([]);
  await put(rig, "full", "there is room again");
  expect(await text(await rig.blobs.read("full"))).toBe("there is room again");
});

test("bytes that are being read are read to their end although they are removed during the read", async () => {
  await using rig = await folderRig();
  await put(rig, "gone", "x".repeat(3_000_000));
  const bytes = await rig.blobs.read("gone");
  await rig.blobs.remove("gone");
  expect(await text(bytes)).toHaveLength(3_000_000);
});

test("an error other than a full disk is passed on, and is not a refusal", async () => {
  await using rig = await folderRig();
  await put(rig, "odd");
  const path = pathOf(rig.folder, "odd");
  rmSync(path);
  mkdirSync(path);
  await expect(put(rig, "odd")).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
});

test("a folder serves its bytes itself", async () => {
  await using rig = await folderRig();
  expect(
    await rig.blobs.address("any", { filename: "a", contentType: "text/plain", seconds: 60 }),
  ).toBeNull();
});
