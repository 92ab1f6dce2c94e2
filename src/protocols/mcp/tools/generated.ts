import { readFileSync } from "node:fs";
import type { Tool } from "@modelcontextprotocol/server";

/** JSON Schema of an object. */
export type InputSchema = Tool["inputSchema"];

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
    (
      JSON.parse(
        readFileSync(new URL("../../../gen/tools/operations.json", import.meta.url), "utf8"),
      ) as Generated[]
    ).map((tool) => [tool.operation, tool]),
  );
  return read;
}
