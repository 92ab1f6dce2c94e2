import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage } from "../../scripts/package/build.ts";
import { root } from "../support/server-process.ts";

const run = promisify(execFile);

/** Below the checkout, so that its dependencies are found. */
let folder: string;
beforeAll(async () => {
  mkdirSync(join(root, ".setup"), { recursive: true });
  folder = mkdtempSync(join(root, ".setup/package-test-"));
  await buildPackage(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const ownFiles = (pattern: string): readonly string[] => globSync(pattern, { cwd: folder, exclude: ["node_modules"] });
const programs = (): readonly string[] => ownFiles("**/*.{js,cjs}").filter((name) => !name.startsWith("src/gen/console/"));

describe("the built package", () => {
  test("has the program, what it reads while it runs, and nothing else", () => {
    const places = [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "api",
      "bin",
      "cli",
      "conformance",
      "deploy",
      "docs",
      "node_modules",
      "package.json",
    ];
    expect(readdirSync(folder).toSorted()).toEqual([...places, "packages", "prisma", "src"]);
    expect(ownFiles("**/*.{ts,tsx,map}").filter((name) => !name.endsWith(".d.ts"))).toEqual([]);
    expect(
      ownFiles("**/{test,tests}/**")
        .concat(ownFiles("**/*.test.*"))
        .filter((name) => !name.startsWith("deploy/prometheus/")),
    ).toEqual([]);
    const migrations = (at: string) => globSync("prisma/*/migrations/**/*.sql", { cwd: at }).toSorted();
    expect(migrations(folder)).toEqual(migrations(root));
  });

  test("names no path of this machine, and has no secret", () => {
    const secret = /\bsk-[A-Za-z0-9_-]{49}|-----BEGIN [A-Z ]*PRIVATE KEY-----\n[A-Za-z0-9+/]{60}/;
    const bad = ownFiles("**/*.{js,cjs,json,md,css,html,sql,yaml,yml,toml}").filter(
      (name) => read(name).includes(root) || secret.test(read(name)),
    );
    expect(bad).toEqual([]);
  });

  test("depends on exact versions of packages that run, and on no other package", () => {
    const { dependencies, devDependencies, scripts } = JSON.parse(read("package.json"));
    expect({ devDependencies, scripts }).toEqual({});
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    for (const name of ["prisma", "typescript", "vite", "vitest", "@bufbuild/buf", "react"]) expect(dependencies).not.toHaveProperty(name);
    const adapter = JSON.parse(read("node_modules/@prisma/adapter-better-sqlite3/package.json"));
    expect(adapter.dependencies["better-sqlite3"]).toBe(dependencies["better-sqlite3"]);
  });

  test("has every file that its code imports", () => {
    const missing = programs().flatMap((name) =>
      [...read(name).matchAll(/(?:from|import\(|import|URL\() ?"(\.{1,2}\/[^"]+\.\w+)"/g)]
        .map(([, target = ""]) => join(dirname(name), target))
        // `atp client` of a checkout imports it.
        .filter((target) => target !== "scripts/client/build.js" && !target.endsWith("scripts/setup.mjs"))
        .filter((target) => !existsSync(join(folder, target)))
        .map((target) => `${name}: ${target}`),
    );
    expect(missing).toEqual([]);
    expect(programs().filter((name) => /"\.{1,2}\/[^" ]+\.ts"/.test(read(name)))).toEqual([]);
  });

  test("runs its program", async () => {
    const { stdout } = await run(process.execPath, [join(folder, "bin/atp.cjs"), "--version"]);
    expect(stdout.trim()).toBe(JSON.parse(read("package.json")).version);
  });

  test("says one sentence on an older Node.js, and ends with 1", async () => {
    const older = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions, "node", { value: "20.20.2" })')}`;
    const failed = await run(process.execPath, ["--import", older, join(folder, "bin/atp.cjs"), "serve"]).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^atp needs Node\.js 24 or newer, .+\.\n$/) });
  });
});
