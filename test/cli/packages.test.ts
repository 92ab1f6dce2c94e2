import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPackage,
  loadOptional,
  MissingPackage,
  optionalPackages,
} from "../../src/async/optional-packages.ts";
import { runWith, testFolder } from "./rig.ts";

const home = testFolder();
const name = "@napi-rs/canvas";
const { version } = optionalPackages[name];
const nowhere = { url: "http://127.0.0.1:1" };

/** A registry with one package, which npm takes from it. */
const registry = createServer((request, response) => {
  const { port } = registry.address() as AddressInfo; // It listens on TCP.
  if (request.url?.endsWith(".tgz")) return void response.end(readFileSync(join(home, "package.tgz")));
  if (decodeURIComponent(request.url ?? "") !== `/${name}`) return void response.writeHead(404).end("{}");
  const dist = { tarball: `http://127.0.0.1:${port}/package.tgz` };
  response.end(JSON.stringify({ name, versions: { [version]: { name, version, dist } } }));
});
beforeAll(async () => {
  mkdirSync(join(home, "package"));
  writeFileSync(join(home, "package/package.json"), JSON.stringify({ name, version }));
  writeFileSync(join(home, "package/index.js"), "exports.answer = 42;");
  execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: home });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void registry.close());

const run = (dataDir: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { port } = registry.address() as AddressInfo; // It listens on TCP.
  const npm = {
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(home, "cache"),
    npm_config_fetch_retries: "0",
  };
  const settings = { DATA_DIR: dataDir, HOME: home, PATH: process.env["PATH"] ?? "", ...npm, ...env };
  return runWith(home, nowhere, ["packages", ...words], { env: settings });
};

describe("atp packages", () => {
  test("the versions of optional packages are those that tests use", () => {
    const { devDependencies, dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const [known, { version: exact }] of Object.entries(optionalPackages)) {
      expect([known, devDependencies[known]]).toEqual([known, exact]);
      expect(dependencies).not.toHaveProperty(known);
    }
  });

  test("add installs the exact version into DATA_DIR, from which it is loaded", async () => {
    const dataDir = join(home, "data");
    expect(() => loadOptional(name, dataDir, [])).toThrow(MissingPackage);
    const { code, err } = await run(dataDir, ["add", name]);
    expect([code, err]).toEqual([0, ""]);
    expect(findPackage(name, dataDir, [])).toBe(join(dataDir, "packages/node_modules"));
    expect(loadOptional(name, dataDir, [])).toEqual({ answer: 42 });
  });

  test("another version is not loaded, and the error names the command", () => {
    const dataDir = join(home, "old");
    const folder = join(dataDir, "packages/node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "0.0.1" }));
    expect(() => loadOptional(name, dataDir, [])).toThrow(`run atp packages add ${name} on the server`);
  });

  test("add refuses another name, and says so when npm does not reach its registry", async () => {
    const dataDir = join(home, "none");
    const unknown = await run(dataDir, ["add", "left-pad"]);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining(name)]);
    const closed = await run(dataDir, ["add", name], { npm_config_registry: "http://127.0.0.1:1/" });
    expect([closed.code, closed.err]).toEqual([1, expect.stringMatching(/registry.*ECONNREFUSED/)]);
    expect(findPackage(name, dataDir, [])).toBeNull();
  });

  test("list has each package with its version and state", async () => {
    const { out } = await run(join(home, "none"), ["list", "--json"]);
    const rows: readonly { name: string; version: string }[] = JSON.parse(out);
    expect(rows.map((row) => [row.name, row.version])).toEqual(
      Object.entries(optionalPackages).map(([known, { version: exact }]) => [known, exact]),
    );
  });
});
