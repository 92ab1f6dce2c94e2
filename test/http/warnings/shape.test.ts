import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import {
  CreateTaskRequestSchema,
  ListMessagesRequestSchema,
} from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import { spellings } from "../../../src/http/v2/wire.ts";
import { findIgnoredMembers, messageShapes, type Shape } from "../../../src/http/warnings/shape.ts";
import { Warnings } from "../../../src/http/warnings/warnings.ts";
import { fixtureType } from "../v2/fixture/every-kind.ts";

const shapes = messageShapes(spellings);

function found(shape: Shape, json: Json): readonly string[] {
  const warnings = new Warnings();
  findIgnoredMembers(shape, json, warnings);
  return warnings.texts.map((text) => text.replace("unknown member ", ""));
}

describe("members without effect are found", () => {
  const every = shapes(fixtureType("EveryKind"));

  test.each<[string, Json, readonly string[]]>([
    ["next to known ones", { some_text: "a", zebra: 1 }, ['"zebra"']],
    ["in a message", { part: { zebra: 1 } }, ['"part.zebra"']],
    [
      "in items of a list",
      { children: [{}, { children: [{ zebra: 1 }] }] },
      ['"children[1].children[0].zebra"'],
    ],
    ["in entries of a map", { parts: { "a b": { zebra: 1 } } }, ['"parts["a b"].zebra"']],
    [
      "below a key that may be a secret, which is not shown",
      { parts: { "sk-abcdefgh": { zebra: 1 } } },
      ['"parts["(hidden)"].zebra"'],
    ],
    [
      "with names that objects inherit",
      JSON.parse('{"__proto__":1,"constructor":2,"toString":3}'),
      ['"__proto__"', '"constructor"', '"toString"'],
    ],
  ])("%s", (_what, json, expected) => {
    expect(found(every, json)).toEqual(expected);
  });

  test.each<[string, Json]>([
    ["null, which is an absent member", { zebra: null, part: null }],
    ["plain JSON", { schema: { zebra: { zebra: 1 } }, result: { zebra: [{ zebra: 1 }] } }],
    ["keys of a map", { labels: { zebra: "a" } }],
    ["both spellings of a name", { someText: "a", some_text: "b" }],
    [
      "values of another type than the field's",
      { part: "x", children: { zebra: 1 }, parts: [{ zebra: 1 }], some_text: { zebra: 1 } },
    ],
  ])("and not: %s", (_what, json) => {
    expect(found(every, json)).toEqual([]);
  });

  test("of the request that a client sends with a misspelt name", () => {
    const create = shapes(CreateTaskRequestSchema);
    expect(found(create, { message: { contnt: "Hello", role: "user" }, interctive_mode: true })).toEqual([
      '"message.contnt"; did you mean "message.content"?',
      '"message.role"',
      '"interctive_mode"; did you mean "interactive_mode"?',
    ]);
  });

  test("where a field is accepted, but has no effect", () => {
    expect(found(shapes(ListMessagesRequestSchema), { task_id: "a", slidesFormat: "pptx" })).toEqual([
      'member "slidesFormat" has no effect',
    ]);
  });
});

describe("the search is bounded", () => {
  const every = shapes(fixtureType("EveryKind"));

  test("stops after a thousand members", () => {
    let read = 0;
    const counted = new Proxy({} as { [name: string]: Json }, {
      ownKeys: () => Array.from({ length: 5000 }, (_, i) => `x${i}`),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
      get: () => ++read,
    });
    expect(found(every, counted)).toHaveLength(10);
    expect(read).toBe(1000);
  });

  test("goes a hundred levels deep", () => {
    const nested = (levels: number): Json =>
      levels === 0 ? { zebra: 1 } : { children: [nested(levels - 1)] };
    expect(found(every, nested(49))).toHaveLength(1);
    expect(found(every, nested(5000))).toEqual([]);
  });
});
