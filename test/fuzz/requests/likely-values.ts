import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { hostile } from "../../core/skills/hostile.ts";
import { skillZip } from "../../core/skills/zip-maker.ts";
import type { Known } from "./known-values.ts";

/**
 * User texts for the offline agent: every directive, some of them malformed, and texts that only resemble
 * one.
 */
const texts = [
  "What is 12 * 4?",
  "Ünïcödé 😀 ‏ text\nin two lines",
  "[[say Hello]] [[think hard]] [[progress half way]]",
  "[[plan One | Two]] [[step]] [[tool browser | success]] [[step]] [[tool shell | error]]",
  "[[ask Which? | red | green]]",
  "[[ask Which?]] [[say after it]]",
  "[[confirm terminalExecute]] [[say done]]",
  "[[confirm webdevRunAction | deploy]]",
  "[[confirm gmailSendAction]] [[credits 3]]",
  "[[fail quota_limit | Nothing is left]]",
  '[[credits 5]] [[value {"a": [1, null, "x"]}]]',
  '[[value {"total": "not a number"}]]',
  "[[sleep 0.02]] [[say late]]",
  "[[crash]]",
  "[[sleep 0.1]] [[crash]] [[say again]]",
  "[[no_such_directive]]",
  "[[value {broken]] [[say x",
  "[[file a.txt | b]]",
  "]] [[ [[say nested [[step]] ]]",
  "[[credits 99999999]] [[sleep -1]] [[plan ]]",
] as const;
/** One of them. */
export const userTexts: fc.Arbitrary<string> = fc.constantFrom(...texts);
/** Occupies a running task until a request stops it, so it is rare. */
const endless = "[[forever]]";

const schemas: readonly JsonObject[] = [
  {
    type: "object",
    properties: { total: { type: "number" } },
    required: ["total"],
    additionalProperties: false,
  },
  {
    type: "object",
    properties: { a: { type: ["array", "null"], items: { type: "string" } } },
    required: ["a"],
    additionalProperties: false,
  },
  { type: "object", properties: {} },
  { $ref: "#" },
];

const inputs: readonly JsonObject[] = [
  { accept: true },
  { accept: false },
  { accept: true, always_allow: true },
  {},
  { accept: "yes", extra: null },
];

/** Skills as ZIPs: valid, with a name that exists or not, and with forbidden names. */
const archives: readonly string[] = [
  ...["Minutes", "Tea", "Garden"].map((name) => skillZip(name)),
  ...hostile.filter((_, at) => at % 8 === 0).map(([, zip]) => zip),
].map((zip) => Buffer.from(zip).toString("base64"));

const profiles = ["standard", "lite", "max", "manus-1.6", "manus-1.6-lite", "", "no-such-profile"];

const oneOf = (...values: readonly JsonValue[]): fc.Arbitrary<JsonValue> => fc.constantFrom(...values);

/**
 * Valid values of fields with these names. Only with them does a request pass the field
 * rules; a field that is not here gets values from its descriptor.
 */
export function likely(known: Known): Readonly<Record<string, fc.Arbitrary<JsonValue>>> {
  const knownOr = (name: string, otherwise: string): fc.Arbitrary<JsonValue> =>
    fc.noBias(fc.nat(9_999)).map((nth) => known.pick(name, nth) ?? otherwise);
  const content = fc.oneof(
    { weight: 200, arbitrary: oneOf(...texts) },
    { weight: 1, arbitrary: oneOf(endless) },
  );
  return {
    task_id: knownOr("task_id", "x"),
    task_references: fc.array(knownOr("task_id", "x"), { maxLength: 3 }),
    enable_skills: fc.array(knownOr("skill_id", "x"), { maxLength: 3 }),
    force_skills: fc.array(knownOr("skill_id", "x"), { maxLength: 2 }),
    archive: oneOf(...archives),
    cursor: knownOr("cursor", "x"),
    project_id: knownOr("project_id", "x"),
    start_event_id: knownOr("start_event_id", "x"),
    event_id: knownOr("start_event_id", "x"),
    agent_id: oneOf("agent-default", "x"),
    content: fc.oneof(
      { weight: 6, arbitrary: content },
      {
        weight: 1,
        arbitrary: fc.array(
          content.map((text) => ({ type: "text", text })),
          { minLength: 1, maxLength: 3 },
        ),
      },
      {
        weight: 1,
        arbitrary: oneOf([{ type: "file", file_data: "data:text/plain;base64,eA==", filename: "a.txt" }]),
      },
    ),
    agent_profile: oneOf(...profiles),
    locale: oneOf("en", "zh-CN", "no locale"),
    structured_output_schema: oneOf(...schemas),
    input: oneOf(...inputs),
    limit: oneOf(1, 3, 20),
    // Every task has more events: a watch has something to send at once.
    after_seq: oneOf(0, 1),
    // Longer ones would only delay the run.
    wait_seconds: oneOf(0, 0, 1),
    service: oneOf("", "task.v2.TaskService", "grpc.health.v1.Health", "no.such.Service"),
    file_by_filename: oneOf("task/v2/task.proto", "no/such.proto"),
    file_containing_symbol: oneOf("task.v2.Task", "task.v2.TaskService.CreateTask", "no.such.Symbol"),
    all_extension_numbers_of_type: oneOf("google.protobuf.MethodOptions", "no.such.Type"),
  };
}
