import { type DescField, type DescMessage, type JsonObject, type JsonValue, type Message, ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wireOf, wordsOf } from "../../src/http/v2/wire.ts";
import type { Operation } from "../../src/operations.ts";
import { openService, type Service } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
import { type Answer, type CallOver, callerOf, readerOf, refused, servedBy, type Wire } from "./call.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { isNeeded, placed, type Spot, sampleOf, sampleValue, spotsOf } from "./sample.ts";

/** A value at a place, and what the refusal has to say of it beside the place. */
interface Bad {
  readonly what: string;
  readonly value: JsonValue;
  /** A piece of the rule's text. */
  readonly rule: string;
}

const nul = "must not contain U+0000 or a lone surrogate";

/** JSON of a type that a body's field does not take, and words that an enum does not have. */
function misfits({ field, item }: Spot): Bad[] {
  const bad = (rule: string, ...values: JsonValue[]): Bad[] => values.map((value) => ({ what: JSON.stringify(value), value, rule }));
  if (field.fieldKind === "list" && !item) return bad("must be an array", 5, {}, true, ...(wireOf(field).textOrParts ? [] : ["x"]));
  if (field.enum) return bad(wordsOf(field.enum).rule, "no_such_word", "", 1, true, {}, []);
  if (field.message?.typeName === "google.protobuf.Timestamp") return [...bad("must be a string", 5, {}), ...bad("must be an RFC 3339 time", "yesterday", "2026-13-01T00:00:00Z")];
  if (field.message) return bad("must be an object", "x", 5, [], true);
  return bad(...scalarMisfits(field));
}

function scalarMisfits({ scalar }: DescField): [rule: string, ...JsonValue[]] {
  if (scalar === ScalarType.STRING) return ["must be a string", 5, true, {}, []];
  if (scalar === ScalarType.BOOL) return ["must be true or false", "true", 1, 0, {}, []];
  return ["must be a whole number", "5", 1.5, true, {}, [], 1e300];
}

/** Texts that not every database and wire can hold, wherever they stand. */
function badTexts({ field, item }: Spot): Bad[] {
  if (field.fieldKind === "list" && !item) return [];
  const bad = (what: string, value: JsonValue): Bad => ({ what, value, rule: nul });
  if (field.scalar === ScalarType.STRING) return [bad("U+0000", "a\0b"), bad("a lone surrogate", "a\ud800b")];
  if (field.message?.typeName !== "google.protobuf.Struct") return [];
  return [
    bad("U+0000 in it", { a: "\0" }),
    bad("U+0000 in a list in it", { a: [{ b: "\0" }] }),
    bad("U+0000 in a key", { "\0": 1 }),
    bad("a lone surrogate in it", { a: { b: "\udc00" } }),
    bad("a lone surrogate in a key", { "\ud800": null }),
  ];
}

/** Values just outside the rules that the descriptor states. */
function outside({ field, item, rules }: Spot): Bad[] {
  const { type } = rules;
  switch (type.case) {
    case "string":
      return outsideText(type.value);
    case "int32":
    case "int64": {
      const { lessThan, greaterThan } = type.value;
      return [
        ...(lessThan.case === "lte" ? [{ what: "one more", value: Number(lessThan.value) + 1, rule: String(lessThan.value) }] : []),
        ...(greaterThan.case === "gte" ? [{ what: "one less", value: Number(greaterThan.value) - 1, rule: String(greaterThan.value) }] : []),
      ];
    }
    case "enum": {
      const { notIn, in: only } = type.value;
      const barred = (field.enum?.values ?? []).filter(({ number }) => notIn.includes(number) || (only.length > 0 && !only.includes(number)));
      return field.enum ? barred.map(({ number }) => ({ what: `the barred ${number}`, value: wordOf(field, number), rule: "" })) : [];
    }
    case "repeated": {
      const { minItems, maxItems } = type.value;
      const [one = null] = [sampleValue(field)].flat();
      if (item) return [];
      return [
        ...(minItems > 0n ? [{ what: "none", value: [], rule: String(minItems) }] : []),
        ...(maxItems > 0n ? [{ what: "one more", value: Array<JsonValue>(Number(maxItems) + 1).fill(one), rule: String(maxItems) }] : []),
      ];
    }
    default:
      return [];
  }
}

const wordOf = ({ enum: desc }: DescField, number: number): string => (desc && wordsOf(desc).words.get(number)) ?? "";

function outsideText({ minLen, maxLen, pattern, wellKnown }: Extract<Spot["rules"]["type"], { case: "string" }>["value"]): Bad[] {
  return [
    ...(minLen > 0n ? [{ what: "too short", value: "x".repeat(Number(minLen) - 1), rule: String(minLen) }] : []),
    ...(maxLen > 0n ? [{ what: "too long", value: "x".repeat(Number(maxLen) + 1), rule: String(maxLen) }] : []),
    ...(pattern !== "" ? [{ what: "no match", value: "not a match!", rule: pattern }] : []),
    ...(wellKnown.case === "email" ? [{ what: "no address", value: "ann at example.com", rule: "email" }] : []),
  ];
}

/** What the rules just accept; lengths count characters, not UTF-16. */
function inside({ field, item, rules: { type } }: Spot): JsonValue[] {
  if (type.case === "string" && type.value.pattern === "" && type.value.wellKnown.case !== "email") {
    const { maxLen } = type.value;
    return maxLen > 0n ? ["x".repeat(Number(maxLen)), "😀".repeat(Number(maxLen))] : [];
  }
  if (type.case === "int32" || type.case === "int64") {
    const { lessThan, greaterThan } = type.value;
    return [lessThan, greaterThan].flatMap((bound) => (bound.value === undefined ? [] : [Number(bound.value)]));
  }
  if (type.case === "repeated" && !item && type.value.maxItems > 0n) {
    const [one = null] = [sampleValue(field)].flat();
    return [Array<JsonValue>(Number(type.value.maxItems)).fill(one)];
  }
  return [];
}

const seen = ({ outcome, message }: Answer): string => (outcome === "ok" ? "ok" : `${outcome}: ${message}`);

/** Some at a time: a table at once would open a connection for each. */
async function pooled<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}

let service: Service;
let call: CallOver;
let keys: Keyring;

beforeAll(async () => {
  service = await openService({ idle: true });
  call = callerOf(service.url);
  keys = await keyringOf(service);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Case {
  readonly title: string;
  readonly path: string;
  readonly rule: string;
  readonly json?: JsonObject;
  readonly message?: Message;
}

/** Every case is refused with its field's path and rule; what is not so is listed whole. */
async function expectRefused(wire: Wire, operation: Operation, cases: readonly Case[]): Promise<void> {
  const headers = keys.opening(operation);
  const wrong = await pooled(cases, async ({ title, path, rule, ...sent }) => {
    const answer = await call(wire, operation, { headers, ...sent });
    const isRight = answer.outcome === refused("invalid", wire) && /^[:[]/.test(answer.message.slice(path.length)) && answer.message.startsWith(path);
    return isRight && answer.message.includes(rule) ? [] : [`${title} → ${seen(answer)}`];
  });
  expect(wrong.flat()).toEqual([]);
}

const withFields = (wire: Wire) => servedBy(wire).filter(({ method }) => method.input.fields.length > 0);
const named = (operations: readonly Operation[]) => operations.map((operation) => [operation.name ?? operation.rpc, operation] as const);

describe("over v2, every field", () => {
  const operations = named(withFields("v2"));

  test.each(operations)("of %s refuses what does not fit it, with its path and rule", async (_name, operation) => {
    const { input } = operation.method;
    const cases = spotsOf(input).flatMap((spot) =>
      [...misfits(spot), ...badTexts(spot), ...outside(spot)].map(({ what, value, rule }) => ({
        title: `${spot.path}: ${what}`,
        path: spot.path,
        rule,
        json: placed(input, spot.steps, value),
      })),
    );
    await expectRefused("v2", operation, cases);
  });

  test.each(operations)("of %s takes what its rules just accept", async (_name, operation) => {
    const { input } = operation.method;
    const spots = spotsOf(input).flatMap((spot) => inside(spot).map((value) => ({ spot, json: placed(input, spot.steps, value) })));
    const wrong = await pooled(spots, async ({ spot, json }) => {
      const answer = await call("v2", operation, { headers: keys.opening(operation), json });
      return answer.message.startsWith(spot.path) ? [seen(answer)] : [];
    });
    expect(wrong.flat()).toEqual([]);
  });

  test.each(operations)("of %s is absent when it is null, and missed where it is needed", async (_name, operation) => {
    const { input } = operation.method;
    const headers = keys.opening(operation);
    const fields = spotsOf(input).filter(({ item }) => !item);
    const wrong = await pooled(fields, async ({ path, steps, field }) => {
      const without = absentAt(input, steps);
      const [absent, isNull] = await Promise.all([without, placed(input, steps, null)].map((json) => call("v2", operation, { headers, json })));
      const same = absent && isNull && seen(absent) === seen(isNull);
      const missed = absent?.outcome === refused("invalid", "v2") && absent.message.startsWith(`${path}: `);
      return same && (!isNeeded(field) || missed) ? [] : [`${path}: ${absent && seen(absent)} / ${isNull && seen(isNull)}`];
    });
    expect(wrong.flat()).toEqual([]);
  });

  test.each(operations)("of %s may stand beside members that nobody knows", async (_name, operation) => {
    const { input } = operation.method;
    const headers = keys.opening(operation);
    const stray = { ["__proto__"]: { polluted: true }, constructor: { prototype: 1 }, toString: null, no_such_member: [{}], "": "\0" };
    const answers = await Promise.all([sampleOf(input), { ...sampleOf(input), ...stray }, { ...stray, ...sampleOf(input) }].map((json) => call("v2", operation, { headers, json })));
    const [plain, ...others] = answers.map(seen);
    expect(others).toEqual([plain, plain]);
    expect({}).not.toHaveProperty("polluted");
  });
});

/** The sample around a place, without what stands there. */
function absentAt(desc: DescMessage, steps: Spot["steps"]): JsonObject {
  const json = placed(desc, steps, null);
  let holder: JsonValue = json;
  for (const step of steps.slice(0, -1)) holder = (holder as Record<string | number, JsonValue>)[step] ?? null;
  delete (holder as JsonObject)[String(steps.at(-1))];
  return json;
}

describe("in a query, every field", () => {
  const isPlain = ({ fieldKind }: DescField) => fieldKind === "scalar" || fieldKind === "enum";
  const operations = named(withFields("v2-get"));

  function misfitsOf(field: DescField): string[] {
    if (field.enum) return ["no_such_word", "", "1"];
    if (field.scalar === ScalarType.STRING) return ["a\0b"];
    return field.scalar === ScalarType.BOOL ? ["yes", "TRUE", "", "2"] : ["five", "1.5", "", "1e3", "0x10", "99999999999999999999", " 5"];
  }

  test.each(operations)("of %s refuses text that does not fit it", async (_name, operation) => {
    const { input } = operation.method;
    const cases = input.fields.filter(isPlain).flatMap((field) =>
      misfitsOf(field).map((value) => ({ title: `${field.name}=${value}`, path: field.name, rule: "must", json: { ...sampleOf(input), [field.name]: value } })),
    );
    await expectRefused("v2-get", operation, cases);
  });

  test.each(operations)("of %s refuses what its rules bar", async (_name, operation) => {
    const { input } = operation.method;
    const cases = spotsOf(input)
      .filter(({ field, steps }) => isPlain(field) && steps.length === 1)
      .flatMap((spot) => outside(spot).map(({ what, value, rule }) => ({ title: `${spot.path}: ${what}`, path: spot.path, rule, json: { ...sampleOf(input), [spot.field.name]: value } })));
    await expectRefused("v2-get", operation, cases);
  });
});

describe.each(rpcWires)("over %s, every field", (wire) => {
  test.each(named(withFields(wire)))("of %s refuses what its rules bar, with its path and rule", async (_name, operation) => {
    const { input } = operation.method;
    const read = (json: JsonObject) => readerOf(input)(json, "body");
    const cases = spotsOf(input).flatMap((spot) => {
      // A client of a binary wire cannot write a lone surrogate: it writes U+FFFD.
      const texts = badTexts(spot).filter(({ what }) => wire === "connect-json" || what.includes("U+0000"));
      const messages = [...texts, ...outside(spot)].map(({ what, value, rule }) => ({ what, rule, message: read(placed(input, spot.steps, value)) }));
      if (spot.field.enum && (spot.item || spot.field.fieldKind !== "list")) {
        const message = read(placed(input, spot.steps, sampleEnum(spot)));
        setRaw(input, message, spot.steps, 99);
        messages.push({ what: "a number without a name", rule: "", message });
      }
      return messages.map(({ what, rule, message }) => ({ title: `${spot.path}: ${what}`, path: spot.path, rule, message }));
    });
    const missing = spotsOf(input)
      .filter(({ field, item }) => !item && isNeeded(field))
      .map(({ path, steps }) => ({ title: `${path}: missing`, path, rule: "", message: read(absentAt(input, steps)) }));
    await expectRefused(wire, operation, [...cases, ...missing]);
  });
});

const sampleEnum = ({ field, item }: Spot): JsonValue => (item ? ([sampleValue(field)].flat()[0] ?? null) : sampleValue(field));

/** Puts a value that JSON cannot express into a message. */
function setRaw(desc: DescMessage, message: Message, steps: Spot["steps"], value: unknown): void {
  const [name, ...rest] = steps;
  const field = desc.fields.find((other) => other.name === name);
  if (!field || field.oneof) throw new Error(`${desc.typeName}: ${name} cannot be set`);
  // A message has the members that its descriptor names.
  const members = message as unknown as Record<string, unknown>;
  if (rest.length === 0) members[field.localName] = value;
  else if (rest.length === 1 && rest[0] === 0) members[field.localName] = [value];
  else {
    const held = members[field.localName];
    const inner = Array.isArray(held) ? held[0] : held;
    if (field.message) setRaw(field.message, inner as Message, rest[0] === 0 ? rest.slice(1) : rest, value);
  }
}
