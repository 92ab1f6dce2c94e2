import { readFileSync } from "node:fs";
import type { InputSchema } from "./tool.ts";

/** A tool that is one operation of v2, as `scripts/generate-tools.mjs` writes it. */
interface Generated {
  readonly operation: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the request, without references. */
  readonly inputSchema: InputSchema;
}

let read: ReadonlyMap<string, Generated> | undefined;

/** The operations of v2 that answer once, by their names. They are read at the first use. */
export function generatedTools(): ReadonlyMap<string, Generated> {
  read ??= new Map(
    (JSON.parse(readFileSync(new URL("../../../gen/tools/operations.json", import.meta.url), "utf8")) as Generated[]).map((tool) => [
      tool.operation,
      tool,
    ]),
  );
  return read;
}

/** Members of the request of an operation, as JSON Schemas. */
export function membersOf(operation: string, names: readonly string[]): InputSchema["properties"] {
  const { properties = {} } = generatedTools().get(operation)?.inputSchema ?? {};
  return Object.fromEntries(names.flatMap((name) => (properties[name] === undefined ? [] : [[name, properties[name]]])));
}
