import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FileRegistry } from "@bufbuild/protobuf";
import { generatedFiles } from "./files.ts";
import { pythonFiles } from "./python.ts";
import { synchronous, writtenTwice } from "./python-sync.ts";

const root = resolve(import.meta.dirname, "../..");
const [typescript, python] = ["packages/client/src/generated", "packages/python/src/agent_task_platform"];

/** The generated modules of the TypeScript client, by path. */
export const typescriptModules = (schema: FileRegistry): ReadonlyMap<string, string> =>
  new Map([...generatedFiles(schema)].map(([name, text]) => [`${typescript}/${name}`, text]));

/**
 * The generated modules of the Python client, by path: messages and calls, and those of `_sync`, which are
 * made from `_async`.
 */
export function pythonModules(schema: FileRegistry): ReadonlyMap<string, string> {
  const files = new Map(pythonFiles(schema));
  const written = readdirSync(join(root, python, "_async")).filter(
    (name) => name.endsWith(".py") && !files.has(`_async/${name}`),
  );
  for (const name of written)
    files.set(`_async/${name}`, readFileSync(join(root, python, "_async", name), "utf8"));
  for (const [path, text] of [...files]) {
    const [, name] = /^_async\/(.+)/.exec(path) ?? [];
    if (name !== undefined && !writtenTwice.has(name)) files.set(`_sync/${name}`, synchronous(name, text));
  }
  for (const name of written) files.delete(`_async/${name}`);
  return new Map([...files].map(([path, text]) => [`${python}/${path}`, text]));
}
