import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  equals,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { compileReader } from "../../../src/http/v2/message-reader.ts";
import { parseBody } from "../../../src/http/v2/parse.ts";
import { compileBareWriter } from "../../../src/http/v2/writer.ts";
import { services } from "../../../src/pipeline/services.ts";
import { checkText } from "../../pipeline/check-text.ts";
import { fixtureType } from "./fixture/every-kind.ts";

const everyKind = fixtureType("EveryKind");

/** JSON as a parser returns it: no negative zero, own members only. */
const json: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)));
const jsonObject = fc
  .dictionary(fc.string({ unit: "grapheme" }), json, { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)));
const plus = (value: number): number => value + 0;

function scalar(type: ScalarType): fc.Arbitrary<unknown> {
  const safe = { min: -BigInt(Number.MAX_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };
  switch (type) {
    case ScalarType.STRING:
      return fc.string({ unit: "binary", maxLength: 8 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 });
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map(plus);
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true, noDefaultInfinity: true }).map(plus);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat();
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: safe.max });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt(safe);
    default:
      return fc.integer();
  }
}

/** A value of a field, an item or an entry, with at most `depth` more levels of messages. */
function element(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.enum) return fc.constantFrom(...field.enum.values.map(({ number }) => number));
  if (!field.message) return scalar(field.scalar);
  if (field.message.typeName === "google.protobuf.Struct") return jsonObject;
  if (field.message.typeName === "google.protobuf.Timestamp")
    return fc.integer({ min: 0, max: 2 ** 41 }).map(timestampFromMs);
  // A field's null is an absent one, so a Value that is null is lost in a round trip.
  if (field.message.typeName === "google.protobuf.Value")
    return json.filter((value) => value !== null).map(toValue);
  return message(field.message, depth - 1);
}

const readFixture = compileReader(everyKind);
const toValue = (value: JsonValue): unknown =>
  (readFixture({ result: value }, "body") as unknown as { result: unknown }).result;

function member(of: DescField | DescOneof, depth: number): fc.Arbitrary<unknown> {
  if (of.kind === "oneof") {
    const cases = of.fields.map((field) =>
      element(field, depth).map((value) => ({ case: field.localName, value })),
    );
    return fc.oneof(fc.constant({ case: undefined }), ...cases);
  }
  if (of.fieldKind === "list")
    return depth > 0 || !of.message ? fc.array(element(of, depth), { maxLength: 3 }) : fc.constant([]);
  if (of.fieldKind === "map")
    return fc
      .dictionary(fc.string({ maxLength: 4 }), element(of, depth), { maxKeys: 3 })
      .map((map) => ({ ...map }));
  if (of.fieldKind === "message" && depth <= 0) return fc.constant(undefined);
  return of.presence === 2 ? element(of, depth) : fc.option(element(of, depth), { nil: undefined });
}

function message(desc: DescMessage, depth: number): fc.Arbitrary<ReturnType<typeof create>> {
  const members = Object.fromEntries(desc.members.map((of) => [of.localName, member(of, depth)]));
  return fc.record(members).map((init) => create(desc, init));
}

const inputs = services.flatMap((service) => service.methods).map((method) => method.input);

describe("any message", () => {
  const roundTrip = (desc: DescMessage, runs: number) => {
    const read = compileReader(desc);
    const write = compileBareWriter(desc);
    fc.assert(
      fc.property(message(desc, 2), (given) => {
        // An explicitly empty list sets a flag, and an absent one cannot be distinguished from it when
        // written.
        const flagged = "links" in given ? { ...given, links: ["a"] } : given;
        expect(equals(desc, read(parseBody(Buffer.from(write(flagged))), "body"), flagged)).toBe(true);
      }),
      { numRuns: runs },
    );
  };

  test("of every kind of field is unchanged by a round trip through JSON", () => roundTrip(everyKind, 300));

  test.each(
    inputs.map((desc) => [desc.typeName, desc] as const),
  )("%s has a reader and a writer", (_name, desc) => {
    expect(compileReader(desc)({}, "body")).toEqual(create(desc));
    expect(compileBareWriter(desc)(create(desc))).toMatch(/^{/);
  });
});

describe("hostile JSON", () => {
  const names = everyKind.fields.flatMap(({ name, localName }) => [name, localName]);
  const key = fc.oneof(
    fc.constantFrom(
      ...names,
      "__proto__",
      "constructor",
      "prototype",
      "hasOwnProperty",
      "$typeName",
      "type",
      "text",
    ),
    fc.string(),
  );
  const { value } = fc.letrec((tie) => ({
    leaf: fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom(1e308, -0, 2 ** 53, "NaN", "\ud800", "text", "red"),
    ),
    value: fc.oneof({ maxDepth: 5 }, tie("leaf"), fc.array(tie("value"), { maxLength: 3 }), tie("object")),
    object: fc
      .array(fc.tuple(key, tie("value")), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  }));

  test.each([
    "body",
    "query",
  ] as const)("becomes a message or a Failure, and changes no prototype: %s", (mode) => {
    const before = Reflect.ownKeys(Object.prototype).length;
    fc.assert(
      fc.property(value, (given) => {
        const read = settled(() => readFixture(parseBody(Buffer.from(JSON.stringify(given))), mode));
        const checked = read instanceof Error ? read : settled(() => checkText(everyKind, read));
        expect(checked === undefined || checked instanceof Failure).toBe(true);
        expect(read instanceof Error || Object.getPrototypeOf(read) === Object.prototype).toBe(true);
      }),
      { numRuns: 1000 },
    );
    expect(Reflect.ownKeys(Object.prototype)).toHaveLength(before);
  });
});

describe("any text", () => {
  // Pieces that form nearly valid JSON far more often than random characters do.
  const pieces = [...'{}[]:,"\\0-e \n\r\té\u2028\ufeff\0a', "\\u", "1.", "true", "nul", "null", "//", "/*"];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 2 })), {
      maxLength: 12,
    })
    .map((parts) => parts.join(""));

  test("is parsed as JSON.parse does, or is refused with a position", () => {
    fc.assert(
      fc.property(text, (given) => {
        const read = settled(() => parseBody(Buffer.from(given)));
        const plain = given.replace(/^\ufeff/, "");
        const expected = /^[ \t\r\n]*$/.test(plain) ? {} : settled(() => JSON.parse(plain));
        if (expected instanceof SyntaxError)
          expect(read).toMatchObject({
            message: expect.stringMatching(/JSON: line \d+, column \d+: [a-zA-Z ]+$/),
          });
        else expect(read).toEqual(expected);
      }),
      { numRuns: 5000 },
    );
  });
});

/** The result: the value, or the error. */
function settled<T>(act: () => T): T | Error {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw thrown;
  }
}
