import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./compile.ts";

/** What the packages of a lock file's manifest have in common here. */
interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Prisma's adapter asks for an older better-sqlite3, and npm applies `overrides` of the installing project only. So it is in the package. */
export const bundled = "@prisma/adapter-better-sqlite3";

/** Packages that a dependency imports as an optional peer. */
const peers = ["@aws-sdk/s3-request-presigner", "@prisma/driver-adapter-utils"];

/** The package.json of the package, whose code imports these packages. */
export function manifestOf(imported: readonly string[]): object {
  const { version, description, license, dependencies, overrides } = readManifest(root);
  const versionOf = (name: string): string => {
    const exact = overrides[name] ?? dependencies[name];
    if (exact === undefined) throw new Error(`${name} is imported and is not in "dependencies" of package.json`);
    return exact;
  };
  const names = [...new Set([...imported, ...peers, ...Object.keys(overrides)])].toSorted();
  return {
    name: "agent-task-platform",
    version,
    description,
    license,
    type: "module",
    engines: { node: ">=24" },
    bin: { atp: "bin/atp.cjs" },
    dependencies: Object.fromEntries(names.map((name) => [name, versionOf(name)])),
    bundleDependencies: [bundled],
  };
}

/** The package.json of the bundled package, with the versions that this project uses. */
export function bundledManifest(folder: string): object {
  const { devDependencies, scripts, ...kept } = { devDependencies: {}, scripts: {}, ...readManifest(folder) };
  const { overrides } = readManifest(root);
  const dependencies = Object.entries(kept.dependencies).map(([name, version]) => [name, overrides[name] ?? version]);
  return { ...kept, dependencies: Object.fromEntries(dependencies) };
}
