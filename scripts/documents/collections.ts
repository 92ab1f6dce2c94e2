import { serverUrl } from "./frame.ts";
import type { Json } from "./schema.ts";

/** A request of a collection. */
interface CollectedRequest {
  readonly folder: string;
  readonly name: string;
  readonly method: string;
  /** With `{{name}}` for parameters of the path. */
  readonly path: string;
  readonly description: string;
  /** The header of the key. */
  readonly keyHeader: string;
  /** JSON; undefined for a request without a body. */
  readonly body: string | undefined;
}

const title = "Agent Task Platform";
/** The variables of a collection. The key has no value: a collection is shared. */
const variables = { base_url: serverUrl, key: "" };

/**
 * All requests of the documents, each once: those of v2 by POST, with the example that the tests really sent.
 */
export function collected(documents: Readonly<Record<string, Json>>): readonly CollectedRequest[] {
  const all = Object.entries(documents).flatMap(([name, document]) =>
    Object.entries(partOf(document["paths"])).flatMap(([path, item]) =>
      Object.entries(partOf(item))
        .filter(([method]) => method === "post" || (name !== "v2" && /^(get|put|delete)$/.test(method)))
        .map(([method, operation]) => requestOf(name, path, method.toUpperCase(), partOf(operation))),
    ),
  );
  // The Responses API and v1 share the addresses of files.
  return [...new Map(all.toReversed().map((request) => [request.name, request])).values()].toReversed();
}

function requestOf(document: string, path: string, method: string, operation: Json): CollectedRequest {
  const [tag] = Array.isArray(operation["tags"]) ? operation["tags"] : [];
  const [summary, description] = [operation["summary"], operation["description"]].map((text) =>
    typeof text === "string" ? text : "",
  );
  // The Responses API has `/v1` in the base address of its clients.
  const prefix = document === "responses" ? "/v1" : "";
  return {
    folder: typeof tag === "string" ? `${document}: ${tag.split(".").at(-1)}` : document,
    name: document === "v2" ? path.replace("/v2/", "") : `${method} ${prefix}${path}`,
    method,
    path: `${prefix}${path.replaceAll(/\{(\w+)\}/g, "{{$1}}")}`,
    description: [summary, description].filter((text) => text !== "" && text !== `${summary}.`).join(".\n\n"),
    keyHeader: document === "v2" ? "x-service-api-key" : "API_KEY",
    body: bodyOf(operation),
  };
}

/** The first example of a JSON body, or an empty object. */
function bodyOf(operation: Json): string | undefined {
  const media = partOf(partOf(partOf(operation["requestBody"])["content"])["application/json"]);
  if (Object.keys(media).length === 0) return undefined;
  const [example] = Object.values(partOf(media["examples"])).map((each) => partOf(each)["value"]);
  return JSON.stringify(example ?? media["example"] ?? {}, null, 2);
}

const partOf = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {}); // Its members are unknown.

const byFolder = (requests: readonly CollectedRequest[]) =>
  Object.entries(Object.groupBy(requests, ({ folder }) => folder));

/** A collection of Postman, format 2.1.0. */
export const postmanCollection = (requests: readonly CollectedRequest[]): Json => ({
  info: { name: title, schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
  variable: Object.entries(variables).map(([key, value]) => ({ key, value, type: "string" })),
  item: byFolder(requests).map(([name, items = []]) => ({
    name,
    item: items.map(({ name: requestName, method, path, description, keyHeader, body }) => ({
      name: requestName,
      request: {
        method,
        description,
        header: [
          { key: keyHeader, value: "{{key}}" },
          ...(body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
        ],
        url: { raw: `{{base_url}}${path}`, host: ["{{base_url}}"], path: path.split("/").slice(1) },
        ...(body === undefined
          ? {}
          : { body: { mode: "raw", raw: body, options: { raw: { language: "json" } } } }),
      },
    })),
  })),
});

/** A collection of Bruno in the form of its export, which it imports. */
export const brunoCollection = (requests: readonly CollectedRequest[]): Json => ({
  version: "1",
  name: title,
  items: byFolder(requests).map(([name, items = []], folder) => ({
    type: "folder",
    name,
    seq: folder + 1,
    items: items.map(({ name: requestName, method, path, description, keyHeader, body }, at) => ({
      type: "http-request",
      name: requestName,
      seq: at + 1,
      request: {
        url: `{{base_url}}${path}`,
        method,
        headers: [{ name: keyHeader, value: "{{key}}", enabled: true }],
        params: [],
        auth: { mode: "none" },
        body: {
          mode: body === undefined ? "none" : "json",
          ...(body === undefined ? {} : { json: body }),
          formUrlEncoded: [],
          multipartForm: [],
        },
        script: {},
        vars: {},
        assertions: [],
        tests: "",
        docs: description,
      },
    })),
  })),
  environments: [
    {
      name: "Installation",
      variables: Object.entries(variables).map(([name, value]) => ({
        name,
        value,
        type: "text",
        enabled: true,
        secret: name === "key",
      })),
    },
  ],
  brunoConfig: { version: "1", name: title, type: "collection" },
});
