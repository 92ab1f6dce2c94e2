import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FileRegistry } from "@bufbuild/protobuf";
import { asyncapiDocument } from "./asyncapi.ts";
import { brunoCollection, collected, postmanCollection } from "./collections.ts";
import { compactJson } from "./compact.ts";
import { root } from "./frame.ts";
import { restDocument } from "./rest.ts";
import { v2Document } from "./v2.ts";

const json = (document: unknown): string => `${compactJson(document)}\n`;

/** Answers of every operation of v2, as a test writes them. */
export const readExamples = () =>
  JSON.parse(readFileSync(join(root, "test/golden/v2-examples.json"), "utf8"));

/** The description of v2, by path: git has it, for reviews. */
export const v2Documents = (schema: FileRegistry): ReadonlyMap<string, string> =>
  new Map([["api/openapi.json", json(v2Document(schema, readExamples()))]]);

/** The other documents of `api/`, by path. */
export function documents(schema: FileRegistry): ReadonlyMap<string, string> {
  const v2 = v2Document(schema, readExamples());
  const requests = collected({ v2, v1: restDocument("v1"), responses: restDocument("responses") });
  return new Map([
    ...["v1", "responses", "oauth", "files"].map(
      (name) => [`api/openapi/${name}.json`, json(restDocument(name))] as const,
    ),
    ["api/collections/postman.json", json(postmanCollection(requests))],
    ["api/collections/bruno.json", json(brunoCollection(requests))],
    ["api/asyncapi.json", json(asyncapiDocument())],
  ]);
}
