import { create, type DescMessage, type JsonObject } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { PlanStepSchema, PlanStepStatus } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import { compileBareWriter, compileWriter } from "../../../src/http/v2/writer.ts";
import { fixtureType } from "./fixture/every-kind.ts";

const everyKind = fixtureType("EveryKind");
const write = compileBareWriter(everyKind);
const written = (init: JsonObject | Record<string, unknown>): JsonObject =>
  JSON.parse(write(create(everyKind, init)));

describe("a member", () => {
  test("of implicit presence is always written, an absent one is left out", () => {
    expect(written({})).toEqual({
      some_text: "",
      text_or_null: null,
      count: 0,
      size: 0,
      created_at: 0,
      total: 0,
      ended_at: null,
      flag: false,
      ratio: 0,
      share: 0,
      blob: "",
      color: "COLOR_UNSPECIFIED",
      level: "LEVEL_UNSPECIFIED",
      names: [],
      colors: [],
      children: [],
      content: [],
      links: [],
      no_links: false,
      labels: {},
      parts: {},
      rows: [],
      shift: 0,
      mark: 0,
      part_or_null: null,
    });
  });

  test("that is set to its zero is present", () => {
    expect(
      written({ maybeText: "", textOrNull: "", endedAt: 0n, maybeColor: 0, part: {}, schema: {} }),
    ).toMatchObject({
      maybe_text: "",
      text_or_null: "",
      ended_at: 0,
      maybe_color: "COLOR_UNSPECIFIED",
      part: { type: "KIND_UNSPECIFIED" },
      schema: {},
    });
  });

  test("marked omit_empty is written once it holds something", () => {
    expect(written({ tags: ["a"], note: "n" })).toMatchObject({ tags: ["a"], note: "n" });
    expect(Object.keys(written({}))).not.toContain("tags");
    expect(Object.keys(written({}))).not.toContain("note");
  });

  test("of 64 bits is a number, an enum is its name, bytes are base64, a time is RFC 3339", () => {
    expect(
      written({
        createdAt: 1_790_000_000_123n,
        mark: 7n,
        color: 2,
        level: 1,
        blob: new Uint8Array([0, 1, 2]),
        sharedAt: create(TimestampSchema, { seconds: 1_767_323_045n, nanos: 6_000_000 }),
      }),
    ).toMatchObject({
      created_at: 1_790_000_000_123,
      mark: 7,
      color: "dark_blue",
      level: "LEVEL_LOW",
      blob: "AAEC",
      shared_at: "2026-01-02T03:04:05.006Z",
    });
  });

  test("of a oneof is written under its name", () => {
    expect(written({ payload: { case: "shown", value: { type: 1, text: "t" } } })).toMatchObject({
      shown: { type: "text", text: "t" },
    });
    expect(written({ payload: { case: "given", value: { a: null } } })).toMatchObject({ given: { a: null } });
    expect(written({ payload: { case: "counted", value: 3n } })).toMatchObject({ counted: 3 });
  });

  test("of type Value is written as its JSON, and null when its kind is not set", () => {
    const value = (kind: unknown) => ({ $typeName: "google.protobuf.Value", kind });
    expect(
      written({
        result: value({ case: "listValue", value: { values: [value({ case: "numberValue", value: 1 })] } }),
      }),
    ).toMatchObject({
      result: [1],
    });
    expect(written({ result: value({ case: undefined }) })).toMatchObject({ result: null });
  });

  test("with an unknown enum number is written as that number", () => {
    expect(written({ color: 99 })).toMatchObject({ color: 99 });
  });

  test("typed `or null` by the specification is null while absent", () => {
    const step = create(PlanStepSchema, { status: PlanStepStatus.TODO, title: "Look" });
    expect(compileBareWriter(PlanStepSchema)(step)).toBe(
      '{"status":"todo","title":"Look","started_at":null,"end_at":null}',
    );
  });
});

describe("an answer", () => {
  const answer = (desc: DescMessage, init = {}) => compileWriter(desc)(create(desc, init), "req_1");

  test("begins with the envelope", () => {
    expect(answer(everyKind)).toMatch(/^{"ok":true,"request_id":"req_1","some_text":""/);
    expect(answer(fixtureType("Nothing"))).toBe('{"ok":true,"request_id":"req_1"}');
  });

  test("has ok and request_id once, from the envelope", () => {
    expect(answer(fixtureType("Answer"), { ok: false, requestId: "other", teamUserId: "u" })).toBe(
      '{"ok":true,"request_id":"req_1","team_user_id":"u"}',
    );
  });
});
