import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Packages that the server works without, each for one use. The npm package does not depend on them: the
 * container has them, and `atp packages add NAME` installs one. Their versions are those of package.json.
 */
export const optionalPackages = {
  "@ai-sdk/openai": { version: "4.0.118", why: "models with `api: openai-responses`" },
  "@napi-rs/canvas": { version: "1.1.1", why: "smaller pictures for models, and pages of PDF as pictures" },
} as const satisfies Readonly<Record<string, { readonly version: string; readonly why: string }>>;

/** The name of an optional package. */
export type OptionalPackage = keyof typeof optionalPackages;

/** An optional package is not installed. The message says what to do, and is for the operator. */
export class MissingPackage extends Error {
  constructor(name: OptionalPackage) {
    super(`the package ${name} is not installed: run atp packages add ${name} on the server`);
  }
}

/** The folder into which `atp packages add` installs. */
export const packagesFolder = (dataDir: string): string => join(dataDir, "packages");

const require = createRequire(import.meta.url);

/**
 * The folder `node_modules` that has the package in its exact version: one of the program, or that of
 * DATA_DIR. Null without one: another version is not used.
 */
export function findPackage(
  name: OptionalPackage,
  dataDir: string,
  own: readonly string[] = require.resolve.paths(name) ?? [],
): string | null {
  const folders = [...own, join(packagesFolder(dataDir), "node_modules")];
  return folders.find((folder) => versionIn(folder, name) === optionalPackages[name].version) ?? null;
}

function versionIn(folder: string, name: string): unknown {
  const manifest = join(folder, name, "package.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
}

/** Loads an optional package at its first use. @throws MissingPackage */
export function loadOptional<T>(name: OptionalPackage, dataDir: string, own?: readonly string[]): T {
  const folder = findPackage(name, dataDir, own);
  if (folder === null) throw new MissingPackage(name);
  return createRequire(join(folder, "-"))(name) as T; // The caller names its type. Node.js keeps what is loaded.
}
