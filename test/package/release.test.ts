import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";

/** Two set-ups of clones take minutes: `npm test` has test/releases/files.test.ts. */
describe.skipIf(depth !== "full" || lacks("python-build"))("the files of a release", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "release-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Builds the last commit in a separate clone. */
  function build(name: string): string {
    const clone = join(folder, name);
    execFileSync("git", ["clone", "--quiet", root, clone]);
    const out = join(folder, `${name} files`);
    execFileSync("npm", ["run", "release", "--", "--out", out], {
      cwd: clone,
      stdio: ["ignore", "ignore", "inherit"],
    });
    return join(out, readdirSync(out)[0] ?? "");
  }

  test("are the same in two clones, one of them in a path with a space, and atp verify-release finds them as built", {
    timeout: 3_600_000,
  }, () => {
    const [first, second] = [build("one"), build("an other")];
    expect(readFileSync(join(second, "SHA256SUMS"), "utf8")).toBe(
      readFileSync(join(first, "SHA256SUMS"), "utf8"),
    );
    execFileSync(join(root, "atp"), ["verify-release", second], { stdio: "pipe" });
  });
});
