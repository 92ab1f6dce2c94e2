import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { hostileJson } from "./hostile-json.ts";
import type { Known } from "./known-values.ts";
import { userTexts } from "./likely-values.ts";
import type { Payloads } from "./payloads.ts";

const wrong: readonly JsonObject[] = [
  ...[null, "", 7, [], "x".repeat(256)].map((threadId): JsonObject => ({ threadId })),
  ...[null, {}, [null], [{ id: "1" }], [{ id: "1", role: "user", content: 7 }]].map(
    (messages): JsonObject => ({ messages }),
  ),
  ...[{ task_id: 7 }, { last_seq: -1 }, { last_seq: 2 ** 53 }, { done: "x".repeat(256) }].map(
    (state): JsonObject => ({ state }),
  ),
  ...[[{}], [{ interruptId: "x", status: "maybe" }], "x"].map((resume): JsonObject => ({ resume })),
  ...[{ stop: "yes" }, { task: "x" }, { task: { agent_profile: 7, no_such_member: 1 } }].map(
    (forwardedProps): JsonObject => ({ forwardedProps }),
  ),
  { tools: "x" },
  { context: {} },
];

/** Requests of AG-UI. */
export function runsFrom(known: Known): Payloads {
  const taskId = fc.nat(1_000).map((nth) => known.pick("task_id", nth) ?? "none");
  const one = (values: fc.Arbitrary<JsonValue>) => fc.option(values, { nil: undefined, freq: 2 });
  const content = fc.oneof(
    userTexts,
    userTexts.map((text): JsonValue => [{ type: "text", text }]),
  );
  const said = fc
    .tuple(fc.uuid(), content)
    .map(([id, text]): JsonValue => [{ id, role: "user", content: text }]);
  const members = {
    threadId: fc.oneof(taskId, fc.uuid()),
    runId: fc.uuid(),
    messages: fc.oneof(said, fc.constant<JsonValue>([])),
    state: one(fc.tuple(taskId, fc.nat(20)).map(([task_id, last_seq]) => ({ task_id, last_seq }))),
    resume: one(taskId.map((id) => [resumeOf(known.waitingEvent(id) ?? "ev_1")])),
    forwardedProps: one(fc.constantFrom<JsonValue>({ stop: true }, { task: { agent_profile: "lite" } }, {})),
  };
  const valid = fc.record(members).map((json) => JSON.parse(JSON.stringify(json)) as JsonObject);
  const bytes = (json: JsonObject): Uint8Array => Buffer.from(JSON.stringify(json));
  return {
    valid: valid.map(bytes),
    nearlyValid: fc
      .tuple(valid, fc.constantFrom(...wrong))
      .map(([json, member]) => bytes({ ...json, ...member })),
    hostile: hostileJson(valid, Object.keys(members)),
  };
}

const resumeOf = (interruptId: string): JsonObject => ({
  interruptId,
  status: "resolved",
  payload: { accept: true, answer: "red" },
});
