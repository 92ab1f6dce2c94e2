import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { validate } from "../../src/pipeline/validate.ts";
import { sample, share } from "../support/depth.ts";
import { isPart, type Part, partAt, readDocument } from "../support/documents.ts";
import { type Known, valuesOf } from "../support/generated-json.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { takes } from "../wires/access.ts";

const document = readDocument("openapi.json");

/** Operations that answer once: what a stream sends has no end while its task is open. */
const operations = Object.entries(partAt(document, "paths")).flatMap(([path, item]) => {
  const post = isPart(item) && isPart(item["post"]) ? item["post"] : undefined;
  return post && !JSON.stringify(post).includes("text/event-stream")
    ? [[path.replace("/v2/", ""), post] as const]
    : [];
});

const bodyOf = (post: Part): Part => partAt(post, "requestBody", "content", "application/json", "schema");

// test/support/traffic.ts compares each answer with the document (spec/decisions.md 102).
describe("a request that is generated from api/openapi.json", () => {
  let service: Service;
  const callers = new Map<KeyKind, Person>();
  let known: Known;

  beforeAll(async () => {
    service = await openService({ idle: true });
    const owner = await service.person();
    for (const kind of keyKinds)
      callers.set(kind, kind === "general" ? owner : await service.person({ as: owner, with: owner, kind }));
    const { body: task } = await owner.v2("task.create", { message: { content: "Sort" } });
    const { body: made } = await owner.v2("project.create", { name: "Letters" });
    const either = (id: string): fc.Arbitrary<string> =>
      fc.oneof(fc.constant(id), fc.stringMatching(/^[!-~]{1,24}$/));
    known = {
      task_id: either(task["task_id"]),
      project_id: either(made["project"].id),
      wait_seconds: fc.constant(0),
    };
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** The person with a key that may call the operation. */
  function callerOf(name: string): Person | undefined {
    const operation = operationTable().byName(name);
    const kind = keyKinds.find((each) => operation && takes(operation, each, "owner"));
    return kind && callers.get(kind);
  }

  test.each(
    share(operations, 0, 4),
  )("%s is answered as declared, not by a fault and not by a rule that the document lacks", async (name, post) => {
    const caller = callerOf(name);
    const input = operationTable().byName(name)?.method.input;
    if (input === undefined) throw new Error(`${name} is unknown`);
    const read = compileReader(input);
    const requests = valuesOf(document, bodyOf(post), known);
    const property = fc.asyncProperty(requests, async (request) => {
      const { status = 0, body } = (await caller?.v2(name, request)) ?? {};
      expect(`${status} ${body?.error?.message ?? ""}`).toMatch(/^[24]/);
      // A request that conforms to the document breaks no rule of a field; rules about the state of the database are not in it.
      const json: JsonValue = JSON.parse(JSON.stringify(request));
      expect(() => validate(input, read(json, "body"))).not.toThrow();
    });
    await fc.assert(property, { numRuns: sample(500, 1) });
  });
});
