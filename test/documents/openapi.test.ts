import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import {
  checkerOf,
  closed,
  isPart,
  openapiFiles,
  type Part,
  partAt,
  readDocument,
} from "../support/documents.ts";
import { root } from "../support/server-process.ts";

const run = promisify(execFile);

/** Every operation of a document with its address. */
const operationsOf = (document: Part): readonly (readonly [address: string, operation: Part])[] =>
  Object.entries(partAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(isPart(item) ? item : {}).flatMap(([method, operation]) =>
      isPart(operation) ? [[`${method.toUpperCase()} ${path}`, operation] as const] : [],
    ),
  );

/** The media types of a request's body or of an answer, with their examples. */
function mediaOf(part: unknown): readonly Part[] {
  if (!isPart(part) || !isPart(part["content"])) return [];
  return Object.values(part["content"]).filter(isPart);
}

const examplesIn = (media: Part): readonly unknown[] =>
  Object.values(isPart(media["examples"]) ? media["examples"] : {}).map((example) =>
    isPart(example) ? example["value"] : undefined,
  );

describe("the documents below api/ (spec/decisions.md 101)", () => {
  test("conform to the schema of OpenAPI 3.1", async () => {
    for (const file of openapiFiles) {
      const { valid, errors } = await new Validator().validate(readDocument(file));
      expect({ file, valid, errors }).toEqual({ file, valid: true, errors: undefined });
    }
  });

  test("have no finding of the rules of Redocly (recommended-strict)", async () => {
    const config = join(root, "test/documents/redocly.yaml");
    const paths = openapiFiles.map((file) => join(root, "api", file));
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const asked = run(
      join(root, "node_modules/.bin/redocly"),
      ["lint", "--config", config, "--format", "stylish", ...paths],
      { env },
    );
    const findings = await asked.then(
      () => "",
      ({ stdout }) => stdout,
    );
    expect(findings).toBe("");
  });

  test("every operation of v2 has a description, and its name is the id of its GET where it has one", () => {
    const operations = operationsOf(readDocument("openapi.json"));
    const described = operations.filter(
      ([, { description }]) => typeof description === "string" && description.length > 10,
    );
    expect(described.length).toBe(operations.length);
    const gets = new Set(
      operations
        .filter(([address]) => address.startsWith("GET "))
        .map(([address]) => address.slice("GET /v2/".length)),
    );
    expect(gets.size).toBeGreaterThan(40);
    for (const [address, { operationId }] of operations) {
      const [method = "", name = ""] = address.split(" /v2/");
      expect(operationId).toBe(method === "POST" && gets.has(name) ? `${name}.post` : name);
    }
  });

  test("every example conforms to its schema, which declares each of its members", () => {
    const document = closed(readDocument("openapi.json"));
    const checker = checkerOf(document);
    const examples = operationsOf(document).flatMap(([address, { requestBody, responses }]) =>
      [requestBody, ...Object.values(isPart(responses) ? responses : {})].flatMap((part) =>
        mediaOf(part).flatMap((media) =>
          examplesIn(media).map((value) => ({ address, value, schema: partAt(media, "schema") })),
        ),
      ),
    );
    expect(examples.length).toBeGreaterThan(0);
    const faults = examples.flatMap(({ address, schema, value }) => {
      const fault = checker.check(schema, value);
      return fault === undefined ? [] : [`${address}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });
});
