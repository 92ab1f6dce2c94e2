import { execFile } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage } from "../../scripts/package/build.ts";
import { buildOfClone } from "../../scripts/release/clone.ts";
import { buildText } from "../../src/config/version.ts";
import { databaseUrl, describeOnOne } from "../support/database.ts";
import { root } from "../support/server-process.ts";
import { driveProgram, driveThreads, loadAll } from "./program.ts";

const run = promisify(execFile);

/** Outside of the checkout: only the packages that the package names are found. */
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "package-test-"));
  await buildPackage(folder);
  mkdirSync(join(folder, "node_modules"));
  for (const name of Object.keys(JSON.parse(read("package.json")).dependencies))
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const ownFiles = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: folder, exclude: ["node_modules"] });
const programs = (): readonly string[] =>
  ownFiles("**/*.{js,cjs}").filter((name) => !name.startsWith("src/gen/"));

describe("the built package", () => {
  test("has the program, what it reads while it runs, and nothing else", () => {
    const places = [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "api",
      "bin",
      "deploy",
      "docs",
      "lib",
      "node_modules",
      "package.json",
    ];
    expect(readdirSync(folder).toSorted()).toEqual([...places, "prisma", "src"]);
    expect(ownFiles("**/*.{ts,tsx}").filter((name) => !name.endsWith(".d.ts"))).toEqual([]);
    expect(ownFiles("src/**/*.js").filter((name) => !name.startsWith("src/gen/"))).toEqual([
      "src/sign-in-pages/factors/passkey.js",
    ]);
    const licences = read("lib/LICENSES.md");
    for (const name of ["fastify", "@prisma/client", "undici", "pg", "unpdf"])
      expect(licences).toMatch(new RegExp(`^## ${name} \\d.+\\n\\nLicence: .+\\n\\n\`\`\`text\\n`, "m"));
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
    const bad = ownFiles("**/*.{js,cjs,map,json,md,css,html,sql,yaml,yml,toml}").filter(
      (name) => read(name).includes(root) || secret.test(read(name)),
    );
    expect(bad).toEqual([]);
  });

  test("depends on exact versions of packages with machine code, and on no other package", () => {
    const { dependencies, devDependencies, scripts } = JSON.parse(read("package.json"));
    expect({ devDependencies, scripts }).toEqual({});
    const { overrides } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(dependencies).toEqual({ "better-sqlite3": overrides["better-sqlite3"] });
  });

  test("has every file that its code imports or reads next to the source of the module, and loads each part", async () => {
    const found = programs().flatMap((name) =>
      [
        ...[
          ...read(name).matchAll(
            /(?:from|import\(|import|URL\() ?"(\.{1,2}\/[^"]+\.\w+)"(?:, import\.meta\.url)?\)?;?$/gm,
          ),
        ].map(([, target = ""]) => target),
        ...[
          ...read(name).matchAll(/new URL\("(\.[^"]+)", new URL\("([^"]+)", import\.meta\.url\)\.href\)/g),
        ].map(([, target = "", place = ""]) => join(dirname(place), target)),
      ].map((target) => join(dirname(name), target)),
    );
    expect(found.length).toBeGreaterThan(100);
    // A checkout imports the first two; `npm run package` builds the third, this test does not.
    const absent = found.filter((target) => !existsSync(join(folder, target)));
    expect(
      absent.filter(
        (target) => !/(scripts\/client\/build\.ts|scripts\/release\/clone\.ts|src\/gen\/docs)$/.test(target),
      ),
    ).toEqual([]);
    // A file that a package reads by `require` at run time would be missing.
    expect(
      programs().filter(
        (name) =>
          /\b_*require\d*\("\.{1,2}\/(?!\.\.\/lib\/packages\/")/.test(read(name)) && name.startsWith("lib/"),
      ),
    ).toEqual([]);
    expect(await loadAll(folder)).toBe("");
    await driveThreads(folder);
  });

  test("runs its program, which knows the commit it was built from", async () => {
    const { stdout } = await run(process.execPath, [join(folder, "bin/atp.cjs"), "--version"]);
    expect(stdout.trim()).toBe(buildText(await buildOfClone()));
  });

  test("says one sentence on an older Node.js, and ends with 1", async () => {
    const older = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions, "node", { value: "20.20.2" })')}`;
    const failed = await run(process.execPath, [
      "--import",
      older,
      join(folder, "bin/atp.cjs"),
      "serve",
    ]).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^atp needs Node\.js 24 or newer, .+\.\n$/),
    });
  });
});

describeOnOne("the program of the built package", (kind) => {
  test("starts with little loaded, and serves, exports, backs up and reports errors by their place in the source", async () => {
    await using database = await databaseUrl(kind);
    await driveProgram(folder, database.url);
  });
});
