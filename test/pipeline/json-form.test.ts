import { create } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ListTasksRequestSchema } from "../../src/gen/proto/dataexport/v1/export_service_pb.ts";
import { CreateTaskRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { fixtureType } from "../http/v2/fixture/every-kind.ts";
import { checkText } from "./check-text.ts";

const everyKind = fixtureType("EveryKind");
const refusal = (message: string) => expect.objectContaining({ reason: "invalid_argument", message });
const number = (value: number) => create(ValueSchema, { kind: { case: "numberValue", value } });

describe("a number that JSON has no form for", () => {
  test.each([
    ["a Struct", { schema: { a: [1, { b: Number.NaN }] } }, 'schema["a"][1]["b"]: must be a finite number'],
    [
      "a list of Structs",
      { rows: [{}, { a: Number.POSITIVE_INFINITY }] },
      'rows[1]["a"]: must be a finite number',
    ],
    ["a Value", { result: number(Number.NEGATIVE_INFINITY) }, "result: must be a finite number"],
  ])("is refused in %s", (_where, init, message) => {
    expect(() => checkText(everyKind, create(everyKind, init))).toThrow(refusal(message));
  });

  test("is refused with the path of a real request's field", () => {
    const request = create(CreateTaskRequestSchema, { structuredOutputSchema: { minimum: Number.NaN } });
    expect(() => checkText(CreateTaskRequestSchema, request)).toThrow(
      refusal('structured_output_schema["minimum"]: must be a finite number'),
    );
  });

  test("does not include the numbers that JSON has", () => {
    const request = create(everyKind, {
      schema: { a: [0, -1.5, Number.MAX_VALUE, Number.MIN_VALUE] },
      result: number(1e308),
    });
    expect(() => checkText(everyKind, request)).not.toThrow();
  });
});

describe("a time that JSON has no form for", () => {
  const rule = "start_time: must be a time of the years 1 to 9999";
  test.each([
    ["before year 1", { seconds: -62_135_596_801n, nanos: 0 }],
    ["after year 9999", { seconds: 253_402_300_800n, nanos: 0 }],
    ["with nanoseconds below 0", { seconds: 0n, nanos: -1 }],
    ["with a second of nanoseconds", { seconds: 0n, nanos: 1_000_000_000 }],
  ])("is refused: %s", (_what, startTime) => {
    expect(() => checkText(ListTasksRequestSchema, create(ListTasksRequestSchema, { startTime }))).toThrow(
      refusal(rule),
    );
  });

  test.each([-62_135_596_800_000, 0, Date.now(), 253_402_300_799_999])("is not %i", (ms) => {
    expect(() =>
      checkText(ListTasksRequestSchema, create(ListTasksRequestSchema, { startTime: timestampFromMs(ms) })),
    ).not.toThrow();
  });
});
