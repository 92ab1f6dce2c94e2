import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compactJson } from "../../scripts/documents/compact.ts";

const lines = readFileSync("api/openapi.json", "utf8").split("\n");

test("the description of v2 has fewer than 10,000 lines, one for each property and each answer", () => {
  expect(lines.length).toBeLessThan(10_000);
  expect(lines.filter((line) => /^ {10}"429": \{"\$ref":"[^"]+"\},?$/.test(line)).length).toBeGreaterThan(
    100,
  );
  expect(lines.filter((line) => /^ {10}"task_id": \{.*\},?$/.test(line)).length).toBeGreaterThan(10);
});

test("a document is the same value, and a new member of an object is one new line", () => {
  const schemas = (properties: object) => ({
    components: { schemas: { Task: { description: "x".repeat(200), properties } } },
  });
  const before = schemas({ id: { type: "string" }, title: { type: "string", description: "y".repeat(200) } });
  const after = schemas({
    id: { type: "string" },
    state: { enum: ["a", "b"] },
    title: { type: "string", description: "y".repeat(200) },
  });
  expect(JSON.parse(compactJson(after))).toEqual(after);
  const known = new Set(compactJson(before).split("\n"));
  expect(
    compactJson(after)
      .split("\n")
      .filter((line) => !known.has(line)),
  ).toEqual(['          "state": {"enum":["a","b"]},']);
});
