import { create } from "@bufbuild/protobuf";
import { describe, expect, test, vi } from "vitest";
import { CreateTaskRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { fixtureType } from "../http/v2/fixture/every-kind.ts";
import { checkText } from "./check-text.ts";

const everyKind = fixtureType("EveryKind");
const refusal = (path: string) =>
  expect.objectContaining({
    reason: "invalid_argument",
    message: `${path}: must not contain U+0000 or a lone surrogate`,
  });

describe("text", () => {
  test("of every language is accepted, with surrogates in pairs", () => {
    const message = create(everyKind, {
      someText: "日本語 😀 \u0001 \uffff",
      labels: { "😀": "ok" },
      schema: { a: ["😀", null, 1, true] },
    });
    expect(() => checkText(everyKind, message)).not.toThrow();
  });

  test.each([
    ["NUL", "a\0b"],
    ["a high surrogate alone", "a\ud83d"],
    ["a low surrogate alone", "\ude00a"],
    ["surrogates in the wrong order", "\ude00\ud83d"],
  ])("with %s is refused", (_what, bad) => {
    expect(() => checkText(everyKind, create(everyKind, { someText: bad }))).toThrow(refusal("some_text"));
  });

  test.each([
    ["an optional field", { maybe_text: "\0" }, "maybe_text"],
    ["a list", { names: ["a", "\0"] }, "names[1]"],
    ["a list of messages", { children: [{}, { part: { text: "\0" } }] }, "children[1].part.text"],
    ["a oneof's text", { said: "\0" }, "said"],
    ["a oneof's message", { shown: { file_id: "\0" } }, "shown.file_id"],
    ["a map's value", { labels: { a: "\0" } }, 'labels["a"]'],
    ["a map's key", { labels: { "\0": "a" } }, 'labels["\\u0000"]'],
    ["a map of messages", { parts: { p: { text: "\ud800" } } }, 'parts["p"].text'],
    ["the key of a map of messages", { parts: { "\ud800": {} } }, 'parts["\\ud800"]'],
    ["a Struct", { schema: { a: { b: ["c", "\0"] } } }, 'schema["a"]["b"][1]'],
    ["a Struct's key", { schema: { a: { "\0": 1 } } }, 'schema["a"]["\\u0000"]'],
    ["a list of Structs", { rows: [{}, { a: "\0" }] }, 'rows[1]["a"]'],
    ["a oneof's Struct", { given: { a: "\0" } }, 'given["a"]'],
    ["a Value", { result: "\0" }, "result"],
    ["a Value's list and object", { result: [1, { a: "\0" }] }, 'result[1]["a"]'],
    ["a Value's key", { result: { "\ud800": null } }, 'result["\\ud800"]'],
  ])("with a bad character is found in %s", (_where, json, path) => {
    expect(() => checkText(everyKind, compileReader(everyKind)(json, "body"))).toThrow(refusal(path));
  });

  test("is refused with the path of a real request's field", () => {
    const message = compileReader(CreateTaskRequestSchema)({ message: { content: "\0" } }, "body");
    expect(() => checkText(CreateTaskRequestSchema, message)).toThrow(refusal("message.content[0].text"));
  });

  test("of a long key is shortened in the answer", () => {
    const message = create(everyKind, { labels: { ["k".repeat(1000)]: "\0" } });
    expect(() => checkText(everyKind, message)).toThrow(refusal(`labels["${"k".repeat(64)}…"]`));
  });

  test.each([
    ["a field", { title: "a".repeat(511) }, "title: must be at most 255 characters"],
    [
      "an item of a list",
      { message: { content: "a", connectors: ["a".repeat(257)] } },
      "message.connectors[0]: must be at most 128 characters",
    ],
  ])("of more than twice the limit of %s is refused with the text of its rule, without counting its characters", (_where, json, message) => {
    const request = compileReader(CreateTaskRequestSchema)(json, "body");
    const counted = vi.spyOn(String.prototype, Symbol.iterator);
    try {
      expect(() => checkText(CreateTaskRequestSchema, request)).toThrow(
        expect.objectContaining({ reason: "invalid_argument", message }),
      );
      expect(counted).not.toHaveBeenCalled();
    } finally {
      counted.mockRestore();
    }
  });

  test("of exactly the maximum length is accepted, for any bytes per character", () => {
    expect(() =>
      checkText(CreateTaskRequestSchema, create(CreateTaskRequestSchema, { title: "😀".repeat(255) })),
    ).not.toThrow();
  });
});
