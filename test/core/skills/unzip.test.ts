import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { pathKey } from "../../../src/core/skills/files.ts";
import { pack } from "../../../src/core/skills/pack.ts";
import { unzip } from "../../../src/core/skills/unzip.ts";
import { hostile } from "./hostile.ts";
import { manifest, type RawEntry, skillZip, zip64Field, zipOf } from "./zip-maker.ts";

const read = (zip: Uint8Array) => unzip("archive", zip);
const paths = async (zip: Uint8Array) => (await read(zip)).map(({ path }) => path).toSorted();
const refusal = (zip: Uint8Array) =>
  read(zip).then(
    (files) => `accepted: ${files.map(({ path }) => path)}`,
    (thrown: unknown) =>
      thrown instanceof Failure ? `${thrown.reason} ${thrown.message}` : `unexpected: ${thrown}`,
  );

describe("a ZIP of a skill", () => {
  test("returns its files with their bytes; folders follow from their paths", async () => {
    const files = await read(
      skillZip("Minutes", [
        { name: "scripts/" },
        { name: "scripts/run.py", content: "print()", mode: 0o100755 },
      ]),
    );
    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([
      ["SKILL.md", manifest()],
      ["scripts/run.py", "print()"],
    ]);
  });

  test("loses a single folder around all files, and the files of file managers", async () => {
    const zip = zipOf([
      { name: "minutes/", mode: 0o040755 },
      { name: "minutes/SKILL.md", content: manifest() },
      { name: "minutes/a/b.txt" },
      { name: "minutes/.DS_Store", content: "x" },
      { name: "__MACOSX/minutes/._SKILL.md", content: "x" },
    ]);
    expect(await paths(zip)).toEqual(["SKILL.md", "a/b.txt"]);
  });

  test.each(hostile)("is refused for %s, with a message of this platform", async (_, zip, rule) => {
    const message = await refusal(zip);
    expect(message).toMatch(/^invalid_argument archive: /);
    expect(message).toMatch(rule);
  });

  test("may be a valid ZIP64", async () => {
    const content = Buffer.from("x");
    const first = { name: "SKILL.md", content: manifest() };
    const size = zipOf([first]).length - zipOf([]).length - (46 + first.name.length);
    const extra = zip64Field(1, 1, size);
    expect(await paths(zipOf([first, { name: "a", content, method: 0, extra }]))).toEqual(["SKILL.md", "a"]);
    expect(await paths(zipOf([first], { entries: 1, offset: size }))).toEqual(["SKILL.md"]);
  });

  test("is refused when it grows too much, with any sizes in its headers", async () => {
    const bomb = (claims?: number) =>
      skillZip("M", [
        { name: "bomb", content: Buffer.alloc(19 * 1024 * 1024), ...(claims ? { claims } : {}) },
      ]);
    expect(await refusal(bomb())).toMatch(/grows too much/);
    expect(await refusal(bomb(100))).toMatch(/^invalid_argument archive: /);
  });

  test("is refused with a file of more than 20 MB, more than 50 MB in total, or more than 1,000 entries", async () => {
    const noise = (bytes: number) => {
      const content = Buffer.alloc(bytes);
      for (let i = 0; i + 4 <= bytes; i += 64) content.writeUInt32LE((i * 2_654_435_761) % 2 ** 32, i);
      return content;
    };
    const big = (name: string, bytes: number): RawEntry => ({ name, content: noise(bytes), method: 0 });
    expect(await refusal(skillZip("M", [big("a", 20 * 1024 * 1024 + 1)]))).toMatch(/at most 20 MB/);
    // Compressed with deflate, so that the archive itself is small enough.
    const some = (name: string): RawEntry => ({ name, content: noise(17 * 1024 * 1024), method: 8 });
    expect(await refusal(skillZip("M", [some("a"), some("b"), some("c")]))).toMatch(/at most 50 MB/);
    const many = (count: number) =>
      skillZip(
        "M",
        Array.from({ length: count }, (_, i) => ({ name: `f${i}` })),
      );
    expect(await paths(many(999))).toHaveLength(1000);
    expect(await refusal(many(1000))).toMatch(/at most 1000/);
  });

  test("is refused if it is not a ZIP or is truncated", async () => {
    expect(await refusal(Buffer.from("hello"))).toBe("invalid_argument archive: is not a readable ZIP");
    expect(await refusal(new Uint8Array())).toBe("invalid_argument archive: is not a readable ZIP");
    const whole = skillZip();
    for (const cut of [1, 22, whole.length - 30])
      expect(await refusal(whole.subarray(0, whole.length - cut))).toMatch(/^invalid_argument archive: /);
  });

  test("never returns a path that leaves its folder or occurs twice, for any names", async () => {
    const part = fc.oneof(
      fc.constantFrom("..", ".", "a", "A", "SKILL.md", "skill.md", "", "\\", "C:", "é", "e\u0301", "/"),
      fc.string({ maxLength: 6 }),
    );
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 6 }), async (names) => {
        const files = await read(
          skillZip(
            "M",
            names.map((of) => ({ name: of, content: of.endsWith("/") ? "" : "x" })),
          ),
        ).catch((thrown: unknown) => {
          if (thrown instanceof Failure && thrown.reason === "invalid_argument") return [];
          throw thrown;
        });
        const returned = files.map(({ path }) => path);
        expect(
          returned.filter(
            (path) =>
              path.startsWith("/") ||
              /\\|\0/.test(path) ||
              path.split("/").some((s) => ["", ".", ".."].includes(s)),
          ),
        ).toEqual([]);
        expect(new Set(returned.map(pathKey)).size).toBe(returned.length);
      }),
      { numRuns: 300 },
    );
  });

  test("with any changed bytes fails only with a refusal", async () => {
    const whole = skillZip("M", [{ name: "a/b.txt", content: "x".repeat(300) }]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (edits) => {
          const zip = Buffer.from(whole);
          for (const [at, byte] of edits) zip[at] = byte;
          expect(await refusal(zip)).toMatch(/^(accepted|invalid)/);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a packed skill", () => {
  const packed = async (content: string) => {
    const files = await read(
      zipOf([
        { name: "SKILL.md", content },
        { name: "a.txt", content: "a" },
      ]),
    );
    return pack("archive", files);
  };
  const fault = (content: string) =>
    packed(content).then(
      ({ name }) => `taken: ${name}`,
      (thrown: Failure) => thrown.message,
    );

  test("has a name and a description, and is the same ZIP each time", async () => {
    const first = await packed(manifest("Minutes", '"Writes: minutes"'));
    expect(first).toMatchObject({ name: "Minutes", description: "Writes: minutes" });
    expect(
      Buffer.from((await packed(manifest("Minutes", '"Writes: minutes"'))).zip).equals(
        Buffer.from(first.zip),
      ),
    ).toBe(true);
    expect(await paths(first.zip)).toEqual(["SKILL.md", "a.txt"]);
  });

  test("may begin with a byte order mark, have other members, and have no description", async () => {
    expect(
      await packed("\ufeff---\r\nname: Tea\r\nlicense: MIT\r\nmetadata: {a: [1]}\r\n---\r\n"),
    ).toMatchObject({
      name: "Tea",
      description: "",
    });
    expect(
      await packed(`---\nname: ${"n".repeat(64)}\ndescription: ${"d".repeat(1024)}\n---\n`),
    ).toMatchObject({ name: "n".repeat(64) });
  });

  test.each([
    ["no front matter", "# Minutes\n"],
    ["an open front matter", "---\nname: a\n"],
    ["no name", "---\ndescription: d\n---\n"],
    ["an empty name", '---\nname: ""\n---\n'],
    ["a name that is a number", "---\nname: 5\n---\n"],
    ["a name of 65 characters", `---\nname: ${"n".repeat(65)}\n---\n`],
    ["a name displayed in reverse", '---\nname: "a\\u202eb"\n---\n'],
    ["a name with a line feed", '---\nname: "a\\nb"\n---\n'],
    ["a space at the end of the name", '---\nname: "a "\n---\n'],
    ["a description of 1,025 characters", `---\nname: a\ndescription: ${"d".repeat(1025)}\n---\n`],
    ["a description that is a list", "---\nname: a\ndescription: [b]\n---\n"],
    ["a list instead of members", "---\n- name\n---\n"],
    ["the same member twice", "---\nname: a\nname: b\n---\n"],
    ["aliases", "---\na: &a [x, x]\nname: n\nb: [*a, *a]\n---\n"],
    ["broken YAML", "---\nname: [\n---\n"],
  ])("is refused for %s", async (_, content) => {
    expect(await fault(content)).toMatch(/^archive: /);
  });

  test("is refused without SKILL.md, and with SKILL.md in another case", async () => {
    for (const name of ["README.md", "skill.md", "a/b/SKILL.md"]) {
      const files = await read(zipOf([{ name, content: manifest() }]));
      expect(await pack("archive", files).catch((thrown: Failure) => thrown.message)).toBe(
        "archive: has no SKILL.md",
      );
    }
  });
});
