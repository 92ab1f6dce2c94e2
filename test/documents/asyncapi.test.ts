import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { deliveryDifference } from "../support/deliveries.ts";
import { isPart, partAt, readDocument } from "../support/documents.ts";
import { root } from "../support/server-process.ts";

const headers = {
  "x-webhook-signature": `${"A".repeat(342)}==`,
  "x-webhook-timestamp": "1700000000",
  "webhook-id": "task_created_Rt5kQ_1700000000",
  "webhook-timestamp": "1700000000",
  "webhook-signature": "v1,QUJD v1a,QUJD",
};

describe("api/asyncapi.json", () => {
  test("conforms to the schema of AsyncAPI 3.0.0", () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(ajv);
    const validate = ajv.compile(
      JSON.parse(readFileSync(join(root, "test/documents/asyncapi-3.0.0.schema.json"), "utf8")),
    );
    expect([validate(readDocument("asyncapi.json")), validate.errors]).toEqual([true, null]);
    expect(validate({ ...readDocument("asyncapi.json"), operations: { deliver: { action: "post" } } })).toBe(
      false,
    );
  });

  test("has every type of event, and the requests that test an address", () => {
    const types = Object.keys(partAt(readDocument("asyncapi.json"), "components", "messages"));
    expect(types.toSorted()).toEqual([...webhookEventTypes, "webhook_test"].toSorted());
  });

  test("every recorded body conforms to its schema, which declares each of its members", () => {
    const bodies = readFileSync(join(root, "test/golden/webhook-bodies.txt"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{"));
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.map((body) => deliveryDifference(headers, JSON.parse(body)))).toEqual(
      bodies.map(() => undefined),
    );
  });

  test("refuses a body with an undeclared member, and one that lacks a member", () => {
    const message = partAt(readDocument("asyncapi.json"), "components", "messages", "task_stopped");
    const [example] = Array.isArray(message["examples"]) ? message["examples"].filter(isPart) : [];
    const payload = partAt(example ?? {}, "payload");
    expect(deliveryDifference(headers, { ...payload, other: 1 })).toMatch("other");
    expect(deliveryDifference(headers, { ...payload, event_id: undefined })).toMatch("event_id");
  });
});
