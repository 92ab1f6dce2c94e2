import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** A part of a document, as JSON. */
type Part = { readonly [member: string]: unknown };

const isPart = (value: unknown): value is Part =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An operation, as a document of `api/` names it: `GET /v1/tasks/{task_id}`. */
export type DocumentedOperation = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/** The documents of the public contract, by the beginning of their paths. */
const files = { "/v2/": "openapi.json", "/v1/": "openapi/v1.json", "/": "openapi/responses.json" } as const;

interface LoadedDocument {
  readonly document: Part;
  readonly ajv: Ajv2020;
}

/**
 * Compares answers with the documents. Members that a document does not have are accepted: servers may add
 * some.
 */
export function openDocuments() {
  const loaded = new Map<string, LoadedDocument>();
  const compiled = new Map<string, ValidateFunction>();

  function load(path: string): LoadedDocument {
    const [, file = ""] = Object.entries(files).find(([start]) => path.startsWith(start)) ?? [];
    const known = loaded.get(file);
    if (known) return known;
    const document: unknown = JSON.parse(readFileSync(new URL(`../../api/${file}`, import.meta.url), "utf8"));
    if (!isPart(document)) throw new Error(`api/${file} is not an object`);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "document", components: partAt(document, "components") });
    loaded.set(file, { document, ajv });
    return { document, ajv };
  }

  /** How an answer differs from its declaration; undefined when it does not. */
  function differenceOf(operation: DocumentedOperation, status: number, body: unknown): string | undefined {
    const [method = "", path = ""] = operation.split(" ");
    const { document, ajv } = load(path);
    const responses = partAt(document, "paths", path, method.toLowerCase(), "responses");
    const declared = responses[status];
    if (!isPart(declared)) return `the status ${status} is not in the specification`;
    const response =
      typeof declared["$ref"] === "string"
        ? partAt(document, ...declared["$ref"].replace("#/", "").split("/"))
        : declared;
    if (response["content"] === undefined) return undefined;
    const key = JSON.stringify(partAt(response, "content", "application/json", "schema"));
    const validate =
      compiled.get(key) ??
      ajv.compile(JSON.parse(key.replaceAll('"#/components/', '"document#/components/')));
    compiled.set(key, validate);
    if (validate(body)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath || "the answer"} ${error?.message ?? ""}`;
  }

  return { differenceOf };
}

/** The part of a document at a path of names. @throws Error when there is none */
function partAt(document: Part, ...path: readonly string[]): Part {
  let part: unknown = document;
  for (const name of path) part = isPart(part) ? part[name] : undefined;
  if (!isPart(part)) throw new Error(`the document has nothing at ${path.join(" > ")}`);
  return part;
}
