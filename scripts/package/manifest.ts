import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "../release/clone.ts";
import { root } from "./bundle.ts";

/** The part of this project's package.json that the package's has too. */
interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly overrides: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The package.json of the package of a build, whose bundle imports these packages. */
export function manifestOf(imported: readonly string[], build: Build): object {
  const { version, description, license, dependencies, overrides }: Manifest = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const versionOf = (name: string): string => {
    const exact = overrides[name] ?? dependencies[name];
    if (exact === undefined) throw new Error(`${name} is imported and has no version in package.json`);
    return exact;
  };
  return {
    name: "agent-task-platform",
    version,
    build,
    description,
    license,
    type: "module",
    engines: { node: ">=24" },
    bin: { atp: "bin/atp.cjs" },
    dependencies: Object.fromEntries(imported.map((name) => [name, versionOf(name)])),
  };
}
