import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildOfClone } from "../../scripts/release/clone.ts";
import { buildText } from "../../src/config/version.ts";

let folder = "";
const git = (...words: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...words], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
const write = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
function commit(): string {
  git("commit", "--quiet", "--allow-empty", "--all", "--message", "A change");
  return git("rev-parse", "HEAD");
}
const shown = async (place = folder): Promise<string> => buildText(await buildOfClone(place));
let released = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "clone-"));
  git("init", "--quiet");
  write("package.json", { version: "0.2.0" });
  write("releases.json", []);
  git("add", ".");
  const before = commit();
  write("releases.json", [{ version: "0.2.0", commit: before }]);
  released = commit();
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the build of a release is its version and commit, and dirty files are said", async () => {
  expect(await buildOfClone(folder)).toEqual({ version: "0.2.0", commit: released });
  expect(await shown()).toBe(`0.2.0 (${released.slice(0, 8)})`);
  write("package.json", { version: "0.2.0", changed: true });
  expect(await shown()).toBe(`0.2.0+0.${released.slice(0, 8)}.dirty`);
  git("checkout", "--quiet", ".");
});

test("the build after a release has the number of commits since then, and one before it only the commit", async () => {
  commit();
  const second = commit();
  expect(await shown()).toBe(`0.2.0+2.${second.slice(0, 8)}`);
  git("checkout", "--quiet", "HEAD~3");
  expect(await shown()).toBe(`0.2.0+${git("rev-parse", "HEAD").slice(0, 8)}`);
  git("checkout", "--quiet", "-");
});

test("a clone without the release's commit, and a folder that is not a clone, say what is known", async () => {
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${folder}`, join(folder, "shallow")]);
  expect(await shown(join(folder, "shallow"))).toBe(`0.2.0+${git("rev-parse", "HEAD").slice(0, 8)}`);
  const inside = join(folder, "unpacked");
  mkdirSync(inside);
  for (const name of ["package.json", "releases.json"])
    writeFileSync(join(inside, name), git("show", `HEAD:${name}`));
  expect(await buildOfClone(inside)).toEqual({ version: "0.2.0", commit: "" });
});
