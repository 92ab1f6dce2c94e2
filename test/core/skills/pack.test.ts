import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import {
  createOpenCurrentSkill,
  createOpenSkill,
  type SkillContent,
} from "../../../src/core/skills/content.ts";
import { pathKey, type SkillFile } from "../../../src/core/skills/files.ts";
import { pack } from "../../../src/core/skills/pack.ts";
import { unzip } from "../../../src/core/skills/unzip.ts";
import { lacks } from "../../support/needs.ts";
import { manifest, zipOf } from "./zip-maker.ts";

/** Opens a packed skill as from a storage: by ranges of its bytes. */
function openPacked(zip: Uint8Array): SkillContent {
  const read = async (_id: string, range = { start: 0, end: zip.byteLength - 1 }) =>
    Readable.from([Buffer.from(zip.subarray(range.start, range.end + 1))]);
  return createOpenSkill({ read })({ blobId: "b", bytes: zip.byteLength });
}

const segment = fc.oneof(
  fc.constantFrom(
    "a",
    "docs",
    "Grüße",
    "Gru\u0308ße",
    "世界",
    "👋",
    " leading",
    ".hidden",
    "-rf",
    "console",
    "comma",
    "a b",
    "%2e%2e",
  ),
  fc.stringMatching(/^[a-z0-9_-]{1,12}$/).filter((name) => !/^(con|prn|aux|nul|com\d|lpt\d)$/.test(name)),
);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));
const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(70_000)));

/** Files without conflicting paths. */
const files: fc.Arbitrary<readonly SkillFile[]> = fc
  .uniqueArray(fc.record({ path, bytes }), { maxLength: 8, selector: ({ path: one }) => pathKey(one) })
  .map((all) => {
    const taken = new Set(all.map((file) => pathKey(file.path)));
    const folders = (one: string) =>
      pathKey(one)
        .split("/")
        .slice(0, -1)
        .map((_, at, names) => names.slice(0, at + 1).join("/"));
    const compatible = all.filter((file) => !folders(file.path).some((folder) => taken.has(folder)));
    return [{ path: "SKILL.md", bytes: Buffer.from(manifest()) }, ...compatible];
  });

const sortedContents = (all: readonly SkillFile[]) =>
  all
    .map((file) => [file.path, Buffer.from(file.bytes).toString("hex")] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

describe("a packed skill", () => {
  test("returns the packed files unchanged, when unzipped and when read file by file", async () => {
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom(0, 8), fc.boolean(), async (input, method, isWrapped) => {
        const entries = input.map(
          (file) =>
            ({ name: `${isWrapped ? "skill/" : ""}${file.path}`, content: file.bytes, method }) as const,
        );
        const { zip } = await pack("archive", await unzip("archive", zipOf(entries)));
        expect(sortedContents(await unzip("archive", zip))).toEqual(sortedContents(input));
        const content = openPacked(zip);
        const listed = await content.list();
        expect(listed.map((file) => file.path).toSorted()).toEqual(input.map((file) => file.path).toSorted());
        const read = await Promise.all(
          listed.map(async (file) => ({ path: file.path, bytes: await content.read(file.path) })),
        );
        expect(sortedContents(read)).toEqual(sortedContents(input));
        expect(listed.map((file) => file.bytes)).toEqual(read.map((file) => file.bytes.byteLength));
      }),
      { numRuns: 100 },
    );
  });

  test.skipIf(lacks("python"))("is a ZIP for other programs too, and contains only its files", async () => {
    const names = ["SKILL.md", "Grüße/世界.txt", "run.py"];
    const input = names.map((name) => ({
      path: name,
      bytes: Buffer.from(name === "SKILL.md" ? manifest() : name),
    }));
    const folder = mkdtempSync(join(tmpdir(), "skill-"));
    try {
      writeFileSync(join(folder, "skill.zip"), (await pack("archive", input)).zip);
      const script =
        "import sys, json, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps({i.filename: [z.read(i).decode(), i.external_attr >> 16] for i in z.infolist()}))";
      const unzipped = JSON.parse(
        execFileSync("python3", ["-c", script, join(folder, "skill.zip")], { encoding: "utf8" }),
      );
      expect(unzipped).toEqual(
        Object.fromEntries(input.map((file) => [file.path, [file.bytes.toString(), 0o100644]])),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("returns a file in any normalization of its name's accents, and no missing file", async () => {
    const { zip } = await pack("archive", [
      { path: "SKILL.md", bytes: Buffer.from(manifest()) },
      { path: "Gru\u0308n.txt", bytes: Buffer.from("leaf") },
    ]);
    const content = openPacked(zip);
    for (const name of ["Gr\u00fcn.txt", "Gru\u0308n.txt"])
      expect((await content.read(name)).toString()).toBe("leaf");
    for (const name of ["grun.txt", "../SKILL.md", "", "SKILL.md/"])
      await expect(content.read(name)).rejects.toMatchObject({
        reason: "not_found",
      } satisfies Partial<Failure>);
  });

  test("reports not_found when its bytes are gone, and reveals nothing else", async () => {
    const read = () => Promise.reject(new Failure("not_found", "file not found"));
    const content = createOpenSkill({ read })({ blobId: "b", bytes: 100 });
    await expect(content.list()).rejects.toMatchObject({ reason: "not_found" });
    await expect(content.read("SKILL.md")).rejects.toMatchObject({ reason: "not_found" });
  });

  test("is unpacked up to the requested bytes only", async () => {
    const { zip } = await pack("archive", [
      { path: "SKILL.md", bytes: Buffer.from(manifest()) },
      { path: "zeros", bytes: new Uint8Array(20 * 1024 * 1024) },
    ]);
    expect((await openPacked(zip).read("zeros", 1_000)).byteLength).toBe(1_000);
  });

  test("is read as it is now: replaced before a read and during it, and not_found once deleted", async () => {
    const contents = new Map<string, Buffer>();
    const put = async (blobId: string, text: string) => {
      const { zip } = await pack("archive", [
        { path: "SKILL.md", bytes: Buffer.from(manifest()) },
        { path: "day", bytes: Buffer.from(text) },
      ]);
      contents.set(blobId, Buffer.from(zip));
      return { blobId, bytes: zip.byteLength };
    };
    const found = [await put("1", "Monday"), await put("2", "Friday")];
    contents.delete("1");
    const read = async (id: string, { start, end } = { start: 0, end: 0 }) => {
      const zip = contents.get(id);
      if (!zip) throw new Failure("not_found", "file not found");
      return Readable.from([zip.subarray(start, end + 1)]);
    };
    // The first look finds the former content, whose bytes are deleted before they are read.
    const skill = createOpenCurrentSkill({ read }, async () => found.shift() ?? null)({ id: "s" });
    expect((await skill.read("day")).toString()).toBe("Friday");
    await expect(skill.list()).rejects.toMatchObject({ reason: "not_found" });
  });
});
