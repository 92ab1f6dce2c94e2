import { create, type JsonValue } from "@bufbuild/protobuf";
import { TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  CreateTaskRequestSchema,
  ListTasksRequestSchema,
} from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import {
  PublishWebsiteRequestSchema,
  UpdateWebsiteRequestSchema,
} from "../../../src/gen/proto/website/v2/website_service_pb.ts";
import { compileReader } from "../../../src/http/v2/message-reader.ts";
import { compileBareWriter } from "../../../src/http/v2/writer.ts";
import { fixtureType } from "./fixture/every-kind.ts";

const everyKind = fixtureType("EveryKind");
const read = compileReader(everyKind);
const body = (json: JsonValue) => read(json, "body");
const query = (json: JsonValue) => read(json, "query");

describe("an empty string where the schema treats it as absent", () => {
  const publish = compileReader(PublishWebsiteRequestSchema);
  const update = compileReader(UpdateWebsiteRequestSchema);

  test("is an absent visibility to website.publish (spec/api.md 8.31)", () => {
    expect(publish({ visibility: "" }, "body")).toEqual(create(PublishWebsiteRequestSchema));
  });

  test("is not a value for website.update (spec/api.md 8.32)", () => {
    expect(() => update({ visibility: "" }, "body")).toThrow("visibility: must be one of");
  });
});

describe("a body", () => {
  test("gives the message that protobuf would make for an empty object", () => {
    expect(body({})).toEqual(create(everyKind));
  });

  test("accepts both spellings of a name, and the last of the two counts", () => {
    expect(body({ some_text: "a" })).toMatchObject({ someText: "a" });
    expect(body({ someText: "a" })).toMatchObject({ someText: "a" });
    expect(body({ some_text: "a", someText: "b" })).toMatchObject({ someText: "b" });
    expect(compileReader(fixtureType("Answer"))({ teamUserId: "u" }, "body")).toMatchObject({
      teamUserId: "u",
    });
  });

  test("ignores unknown members, __proto__ and inherited names among them", () => {
    const message = body(
      JSON.parse(
        '{"__proto__":{"someText":"x","polluted":1},"constructor":1,"toString":2,"more":[{}],"count":3}',
      ),
    );
    expect(message).toEqual(create(everyKind, { count: 3 }));
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
  });

  test("treats null as an absent member, and keeps it inside plain JSON", () => {
    expect(
      body({ some_text: null, names: null, part: null, said: null, result: null, maybe_text: null }),
    ).toEqual(create(everyKind));
    expect(body({ schema: { a: null, b: [null] } })).toMatchObject({ schema: { a: null, b: [null] } });
    expect(body({ result: [null] })).toMatchObject({
      result: { kind: { value: { values: [{ kind: { case: "nullValue" } }] } } },
    });
  });

  test("reads every kind of field", () => {
    const message = body({
      count: -5,
      size: 4_294_967_295,
      created_at: 1_790_000_000_123,
      total: 2 ** 53 - 1,
      flag: true,
      ratio: 0.25,
      share: 1.5,
      blob: "AAEC",
      color: "dark_blue",
      level: "LEVEL_HIGH",
      colors: ["red", "dark_blue"],
      labels: { a: "b" },
      parts: { p: { type: "file", file_id: "f" } },
      shared_at: "2026-01-02T03:04:05.006Z",
      shown: { type: "text", text: "t" },
      children: [{ children: [{ count: 1 }] }],
    });
    expect(message).toMatchObject({
      count: -5,
      size: 4_294_967_295,
      createdAt: 1_790_000_000_123n,
      total: 9_007_199_254_740_991n,
      flag: true,
      ratio: 0.25,
      share: 1.5,
      blob: new Uint8Array([0, 1, 2]),
      color: 2,
      level: 2,
      colors: [1, 2],
      labels: { a: "b" },
      parts: { p: { type: 2, fileId: "f" } },
      sharedAt: create(TimestampSchema, timestampFromMs(Date.parse("2026-01-02T03:04:05.006Z"))),
      payload: { case: "shown", value: { type: 1, text: "t" } },
      children: [{ children: [{ count: 1 }] }],
    });
  });

  test("has no negative zero in a whole number", () => {
    expect(body({ count: -0 })).toEqual(create(everyKind, { count: 0 }));
  });

  test("accepts a string for a list with one text part", () => {
    const message = compileReader(CreateTaskRequestSchema)({ message: { content: "Hello" } }, "body");
    expect(message.message?.content).toMatchObject([{ type: 1, text: "Hello" }]);
    expect(body({ content: [{ type: "text", text: "a" }] })).toEqual(body({ content: "a" }));
  });

  test("distinguishes an explicitly empty list from an absent one where the field requires it", () => {
    expect(body({ links: [] })).toMatchObject({ links: [], noLinks: true });
    expect(body({ links: ["a"] })).toMatchObject({ noLinks: false });
    expect(body({ links: null })).toMatchObject({ noLinks: false });
    expect(body({})).toMatchObject({ noLinks: false });
  });

  test("keeps __proto__ as an ordinary key of maps and plain JSON", () => {
    const message = body(
      JSON.parse('{"labels":{"__proto__":"x"},"schema":{"__proto__":{"y":1}},"result":{"__proto__":1}}'),
    );
    expect(compileBareWriter(everyKind)(message)).toMatch(
      /"labels":{"__proto__":"x"}.*"schema":{"__proto__":{"y":1}}.*"result":{"__proto__":1}/,
    );
    expect("y" in {}).toBe(false);
  });

  test.each<[json: JsonValue, message: string]>([
    [[], "the body must be a JSON object"],
    [null, "the body must be a JSON object"],
    ["x", "the body must be a JSON object"],
    [{ some_text: 1 }, "some_text: must be a string"],
    [{ someText: 1 }, "some_text: must be a string"],
    [{ flag: "true" }, "flag: must be true or false"],
    [{ flag: 1 }, "flag: must be true or false"],
    [{ count: "5" }, "count: must be a whole number"],
    [{ count: 1.5 }, "count: must be a whole number"],
    [{ count: 2 ** 31 }, "count: must be a whole number from -2147483648 to 2147483647"],
    [{ size: -1 }, "size: must be a whole number from 0 to 4294967295"],
    [{ created_at: "1790000000" }, "created_at: must be a whole number"],
    [
      { created_at: 2 ** 53 },
      "created_at: must be a whole number from -9007199254740991 to 9007199254740991",
    ],
    [{ total: -1 }, "total: must be a whole number from 0 to 9007199254740991"],
    [{ ratio: "NaN" }, "ratio: must be a finite number"],
    [{ ratio: Number.POSITIVE_INFINITY }, "ratio: must be a finite number"],
    [{ share: 1e39 }, "share: must be a finite number"],
    [{ blob: "?" }, "blob: must be a string of base64"],
    [{ color: "green" }, "color: must be one of red, dark_blue"],
    [{ color: 1 }, "color: must be one of red, dark_blue"],
    [{ color: "COLOR_RED" }, "color: must be one of red, dark_blue"],
    [{ level: "low" }, "level: must be one of LEVEL_LOW, LEVEL_HIGH"],
    [{ names: "a" }, "names: must be an array"],
    [{ names: ["a", 2] }, "names[1]: must be a string"],
    [{ names: ["a", null] }, "names[1]: must be a string"],
    [{ content: [{ type: "text", text: 1 }] }, "content[0].text: must be a string"],
    [
      { children: [{}, { children: [{ part: { file_id: [] } }] }] },
      "children[1].children[0].part.file_id: must be a string",
    ],
    [{ part: "x" }, "part: must be an object"],
    [{ part: [] }, "part: must be an object"],
    [{ labels: { a: 1 } }, 'labels["a"]: must be a string'],
    [{ parts: { "a.b": { type: "voice" } } }, 'parts["a.b"].type: must be one of text, file'],
    [{ labels: [] }, "labels: must be an object"],
    [{ schema: [] }, "schema: must be an object"],
    [{ schema: { a: [1, Number.POSITIVE_INFINITY] } }, 'schema["a"][1]: must be a finite number'],
    [{ shared_at: "yesterday" }, "shared_at: must be an RFC 3339 time"],
    [{ shared_at: 1 }, "shared_at: must be a string"],
    [{ said: "a", counted: 1 }, "counted: cannot be given with said"],
  ])("refuses %j", (json, message) => {
    expect(() => body(json)).toThrow(expect.objectContaining({ reason: "invalid_argument", message }));
  });
});

describe("a query", () => {
  test("has numbers and booleans as text", () => {
    expect(
      query({
        count: "-5",
        created_at: "1790000000",
        flag: "1",
        ratio: "1.5e3",
        some_text: "12",
        color: "red",
      }),
    ).toMatchObject({
      count: -5,
      createdAt: 1_790_000_000n,
      flag: true,
      ratio: 1500,
      someText: "12",
      color: 1,
    });
    expect(query({ flag: "true", no_links: "0" })).toMatchObject({ flag: true, noLinks: false });
    expect(query({ flag: "false", shared_at: "2026-01-02T03:04:05Z" })).toMatchObject({
      flag: false,
      sharedAt: { nanos: 0 },
    });
  });

  test("ignores parameters it does not know", () => {
    expect(compileReader(ListTasksRequestSchema)({ limit: "5", utm_source: "x" }, "query")).toMatchObject({
      limit: 5,
    });
  });

  test.each<[json: JsonValue, message: string]>([
    [{ count: "" }, "count: must be a whole number"],
    [{ count: "1.0" }, "count: must be a whole number"],
    [{ count: "0x10" }, "count: must be a whole number"],
    [{ count: " 1" }, "count: must be a whole number"],
    [{ count: 5 }, "count: must be a whole number"],
    [{ count: "99999999999" }, "count: must be a whole number from -2147483648 to 2147483647"],
    [{ count: ["1", "2"] }, "count: must be given once"],
    [{ flag: "yes" }, "flag: must be true or false"],
    [{ flag: true }, "flag: must be true or false"],
    [{ ratio: "Infinity" }, "ratio: must be a finite number"],
    [{ ratio: "1e999" }, "ratio: must be a finite number"],
    [{ color: "blue" }, "color: must be one of red, dark_blue"],
    [{ names: "a" }, "names: must be sent in a JSON body"],
    [{ part: "{}" }, "part: must be sent in a JSON body"],
    [{ schema: "{}" }, "schema: must be sent in a JSON body"],
  ])("refuses %j", (json, message) => {
    expect(() => query(json)).toThrow(expect.objectContaining({ reason: "invalid_argument", message }));
  });
});
