// The documents in api/ that follow from the schema: `--write` writes them; without, exit code 1 names those that are stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asyncapiDocument } from "./documents/asyncapi.ts";
import { brunoCollection, collected, postmanCollection } from "./documents/collections.ts";
import { compactJson } from "./documents/compact.ts";
import { root } from "./documents/frame.ts";
import { restDocument } from "./documents/rest.ts";
import { v2Document } from "./documents/v2.ts";
import { readSchema } from "./reference/schema.ts";

const schema = readSchema();
const examples = JSON.parse(readFileSync(join(root, "test/golden/v2-examples.json"), "utf8"));

const v2 = v2Document(schema, examples);
const requests = collected({ v2, v1: restDocument("v1"), responses: restDocument("responses") });

const json = (document: unknown): string => `${compactJson(document)}\n`;
const files = new Map([
  ["api/openapi.json", json(v2)],
  ...["v1", "responses", "oauth", "files"].map((name) => [`api/openapi/${name}.json`, json(restDocument(name))] as const),
  ["api/collections/postman.json", json(postmanCollection(requests))],
  ["api/collections/bruno.json", json(brunoCollection(requests))],
  ["api/asyncapi.json", json(asyncapiDocument())],
]);

const current = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "");
const stale = [...files].filter(([path, text]) => current(path) !== text);

if (process.argv.includes("--write")) {
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
} else if (stale.length > 0) {
  console.error(`${stale.map(([path]) => path).join(", ")}: stale; run \`node scripts/documents.ts --write\``);
  process.exitCode = 1;
}
