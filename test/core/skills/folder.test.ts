import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Failure } from "../../../src/core/failure.ts";
import { readSkill } from "../../../src/core/use-cases/import-skills.ts";
import { manifest, skillZip } from "./zip-maker.ts";

describe("the folder of a skill", () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "skill-"));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(join(path, "scripts"), { recursive: true });
    writeFileSync(join(path, "SKILL.md"), manifest());
    writeFileSync(join(path, "scripts", "run.py"), "print()");
    return path;
  };
  const refusal = (path: string) =>
    readSkill(path).then(
      ({ name }) => `taken: ${name}`,
      (thrown: Failure) => thrown.message,
    );

  test("is the same skill as its ZIP, without the files of git and file managers", async () => {
    const path = folder("plain");
    mkdirSync(join(path, ".git"));
    writeFileSync(join(path, ".git", "config"), "secret");
    writeFileSync(join(path, ".DS_Store"), "x");
    const zip = join(root, "plain.zip");
    writeFileSync(zip, skillZip("Minutes", [{ name: "scripts/run.py", content: "print()" }]));
    const [one, other] = [await readSkill(path), await readSkill(zip)];
    expect(one).toMatchObject({ name: "Minutes", description: "Writes minutes." });
    expect(Buffer.from(one.zip).equals(Buffer.from(other.zip))).toBe(true);
  });

  test("is refused if it contains a link to a file or a folder", async () => {
    for (const [name, target] of [
      ["file", "/etc/hostname"],
      ["directory", "/etc"],
    ] as const) {
      const path = folder(name);
      symlinkSync(target, join(path, "link"));
      expect(await refusal(path)).toMatch(/"link" is a link, or not a regular file$/);
    }
  });

  test("is refused with a file of more than 20 MB, and with more than 1,000 entries", async () => {
    const large = folder("large");
    writeFileSync(join(large, "a"), Buffer.alloc(20 * 1024 * 1024 + 1));
    expect(await refusal(large)).toMatch(/at most 20 MB$/);
    const many = folder("many");
    for (let i = 0; i < 1000; i += 1) writeFileSync(join(many, `f${i}`), "");
    expect(await refusal(many)).toMatch(/at most 1000 files and folders$/);
  });
});
