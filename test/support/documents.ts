import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { root } from "./server-process.ts";

/** A part of a document, as JSON. */
export type Part = { readonly [member: string]: unknown };

export const isPart = (value: unknown): value is Part =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The documents below `api/` that describe HTTP calls. */
export const openapiFiles = [
  "openapi.json",
  ...["v1", "responses", "oauth", "files"].map((name) => `openapi/${name}.json`),
];

/** All documents below `api/`. */
export const documentFiles = [...openapiFiles, "asyncapi.json"];

/** Reads a document below `api/`. */
export function readDocument(file: string): Part {
  const document: unknown = JSON.parse(readFileSync(join(root, "api", file), "utf8"));
  if (!isPart(document)) throw new Error(`api/${file} is no object`);
  return document;
}

/** The part of a document at a path of names. @throws Error when there is none. */
export function partAt(document: Part, ...path: readonly string[]): Part {
  let part: unknown = document;
  for (const name of path) part = isPart(part) ? part[name] : undefined;
  if (!isPart(part)) throw new Error(`the document has nothing at ${path.join(" > ")}`);
  return part;
}

/** The part that a reference leads to; any other part itself. */
export function resolved(document: Part, part: Part): Part {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  return resolved(document, partAt(document, ...$ref.replace(/^#\//, "").split("/")));
}

/**
 * A copy in which no object has members that its schema does not declare: documents leave answers open for
 * later releases.
 */
export function closed<T>(schema: T): T;
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closed(each));
  if (!isPart(schema)) return schema;
  const members = Object.entries(schema).map(
    ([name, value]) => [name, name.startsWith("x-") ? value : closed(value)] as const,
  );
  const isOpen =
    isPart(schema["properties"]) &&
    schema["type"] !== undefined &&
    schema["additionalProperties"] === undefined;
  return { ...Object.fromEntries(members), ...(isOpen ? { additionalProperties: false } : {}) };
}

/** Compiles a document's schemas. References lead into the document. */
export interface Checker {
  /** Returns why the value does not conform to the schema; undefined when it does. */
  check(schema: Part, value: unknown): string | undefined;
}

export function checkerOf(document: Part): Checker {
  // test/documents/openapi.test.ts validates the documents themselves.
  const ajv = new Ajv2020({ strict: false, allErrors: false, inlineRefs: false, validateSchema: false });
  formats.default(ajv);
  const components = partAt(document, "components", "schemas");
  ajv.addSchema({ $id: "document", components: { schemas: components } });
  const compiled = new Map<string, ValidateFunction>();
  return {
    check(schema, value) {
      const key = JSON.stringify(schema);
      let validate = compiled.get(key);
      if (validate === undefined) {
        validate = ajv.compile(JSON.parse(key.replaceAll('"#/components/', '"document#/components/')));
        compiled.set(key, validate);
      }
      if (validate(value)) return undefined;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath ?? ""} ${error?.message ?? ""} ${JSON.stringify(error?.params)}`;
    },
  };
}
