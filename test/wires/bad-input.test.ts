import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../../src/pipeline/operations.ts";
import { openService, type Service } from "../support/service.ts";
import { rpcWires, staysOpen } from "../support/wires.ts";
import { canOpen } from "./access.ts";
import {
  badTexts,
  inside,
  misfits,
  outside,
  protoJson,
  protoMisfits,
  sampleEnum,
  setRaw,
} from "./bad-values.ts";
import {
  type Answer,
  type CallOver,
  callerOf,
  pooled,
  readerOf,
  refused,
  someServedBy,
  type Wire,
} from "./call.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { endOf, framed, send } from "./raw.ts";
import { isNeeded, placed, type Spot, sampleOf, spotsOf } from "./sample.ts";

const outcomeText = ({ outcome, message }: Answer): string =>
  outcome === "ok" ? "ok" : `${outcome}: ${message}`;

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

/** Expects a refusal with the field's path and rule in every case; the exceptions are listed completely. */
async function expectRefused(wire: Wire, operation: Operation, cases: readonly Case[]): Promise<void> {
  const headers = keys.permitted(operation);
  const wrong = await pooled(cases, async ({ title, path, rule, ...sent }) => {
    const answer = await call(wire, operation, { headers, ...sent });
    const isRight =
      answer.outcome === refused("invalid_argument", wire) &&
      /^[:[]/.test(answer.message.slice(path.length)) &&
      answer.message.startsWith(path);
    return isRight && answer.message.includes(rule) ? [] : [`${title} → ${outcomeText(answer)}`];
  });
  expect(wrong.flat()).toEqual([]);
}

/**
 * All operations that can be called over a wire. Session-only operations cannot be called where sessions are
 * not valid.
 */
const withFields = (wire: Wire, turn = 0) =>
  someServedBy(wire, 9, turn).filter(
    (operation) => operation.method.input.fields.length > 0 && canOpen(operation, wire),
  );
const named = (operations: readonly Operation[]) =>
  operations.map((operation) => [operation.name ?? operation.rpc, operation] as const);

describe("over v2, every field", () => {
  const operations = (turn: number) => named(withFields("v2", turn));
  // An account has few streams that stay open, so accepted calls of them are in webhooks/listen.test.ts.
  const answered = (turn: number) => operations(turn).filter(([name]) => !staysOpen(name));

  /** Makes what an operation makes only once, so that it answers all further calls in the same way. */
  const make = (operation: Operation) => call("v2", operation, { headers: keys.permitted(operation) });

  test.each(
    operations(0),
  )("of %s refuses what does not fit it, with its path and rule", async (_name, operation) => {
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

  test.each(operations(1))("of %s takes what its rules just accept", async (_name, operation) => {
    const { input } = operation.method;
    const spots = spotsOf(input).flatMap((spot) =>
      inside(spot).map((value) => ({ spot, json: placed(input, spot.steps, value) })),
    );
    const wrong = await pooled(spots, async ({ spot, json }) => {
      const answer = await call("v2", operation, { headers: keys.permitted(operation), json });
      // The rules of fields say "must"; an operation may refuse an accepted value for other reasons.
      return answer.message.startsWith(`${spot.path}: must`) ? [outcomeText(answer)] : [];
    });
    expect(wrong.flat()).toEqual([]);
  });

  test.each(
    answered(2),
  )("of %s is absent when it is null, and missed where it is needed", async (_name, operation) => {
    const { input } = operation.method;
    const headers = keys.permitted(operation);
    await make(operation);
    const fields = spotsOf(input).filter(({ item }) => !item);
    const wrong = await pooled(fields, async ({ path, steps, field }) => {
      const without = absentAt(input, steps);
      const [absent, isNull] = await Promise.all(
        [without, placed(input, steps, null)].map((json) => call("v2", operation, { headers, json })),
      );
      const same = absent && isNull && outcomeText(absent) === outcomeText(isNull);
      const missed =
        absent?.outcome === refused("invalid_argument", "v2") && absent.message.startsWith(`${path}: `);
      return same && (!isNeeded(field) || missed)
        ? []
        : [`${path}: ${absent && outcomeText(absent)} / ${isNull && outcomeText(isNull)}`];
    });
    expect(wrong.flat()).toEqual([]);
  });

  test.each(answered(3))("of %s is accepted next to unknown members", async (_name, operation) => {
    const { input } = operation.method;
    const headers = keys.permitted(operation);
    await make(operation);
    const stray = {
      ["__proto__"]: { polluted: true },
      constructor: { prototype: 1 },
      toString: null,
      no_such_member: [{}],
      "": "\0",
    };
    const answers = await Promise.all(
      [sampleOf(input), { ...sampleOf(input), ...stray }, { ...stray, ...sampleOf(input) }].map((json) =>
        call("v2", operation, { headers, json }),
      ),
    );
    const [plain, ...others] = answers.map(outcomeText);
    expect(others).toEqual([plain, plain]);
    const unknown = ["__proto__", "constructor", "no_such_member", ""].map(
      (name) => `unknown member ${JSON.stringify(name)}`,
    );
    for (const { body } of answers.slice(1))
      expect(body).toMatchObject({ warnings: expect.arrayContaining(unknown) });
    expect({}).not.toHaveProperty("polluted");
  });
});

/** The sample around a position, without the value there. */
function absentAt(desc: DescMessage, steps: Spot["steps"]): JsonObject {
  const json = placed(desc, steps, null);
  let holder: JsonValue = json;
  for (const step of steps.slice(0, -1))
    holder = (holder as Record<string | number, JsonValue>)[step] ?? null;
  delete (holder as JsonObject)[String(steps.at(-1))];
  return json;
}

describe("in a query, every field", () => {
  const isPlain = ({ fieldKind }: DescField) => fieldKind === "scalar" || fieldKind === "enum";
  const operations = (turn: number) => named(withFields("v2-get", turn));

  function misfitsOf(field: DescField): string[] {
    if (field.enum) return ["no_such_word", "", "1"];
    if (field.scalar === ScalarType.STRING) return ["a\0b"];
    return field.scalar === ScalarType.BOOL
      ? ["yes", "TRUE", "", "2"]
      : ["five", "1.5", "", "1e3", "0x10", "99999999999999999999", " 5"];
  }

  test.each(operations(4))("of %s refuses text that does not fit it", async (_name, operation) => {
    const { input } = operation.method;
    const cases = input.fields.filter(isPlain).flatMap((field) =>
      misfitsOf(field).map((value) => ({
        title: `${field.name}=${value}`,
        path: field.name,
        rule: "must",
        json: { ...sampleOf(input), [field.name]: value },
      })),
    );
    await expectRefused("v2-get", operation, cases);
  });

  test.each(operations(5))("of %s refuses what its rules bar", async (_name, operation) => {
    const { input } = operation.method;
    const cases = spotsOf(input)
      .filter(({ field, steps }) => isPlain(field) && steps.length === 1)
      .flatMap((spot) =>
        outside(spot).map(({ what, value, rule }) => ({
          title: `${spot.path}: ${what}`,
          path: spot.path,
          rule,
          json: { ...sampleOf(input), [spot.field.name]: value },
        })),
      );
    await expectRefused("v2-get", operation, cases);
  });
});

describe.each(rpcWires)("over %s, every field", (wire) => {
  test.each(
    named(withFields(wire, 3)),
  )("of %s refuses what its rules bar, with its path and rule", async (_name, operation) => {
    const { input } = operation.method;
    const read = (json: JsonObject) => readerOf(input)(json, "body");
    const cases = spotsOf(input).flatMap((spot) => {
      // Lone surrogates do not reach the call path: a binary wire has none, and Connect's JSON is refused
      // before.
      const texts = badTexts(spot).filter(({ what }) => what.includes("U+0000"));
      const messages = [...texts, ...outside(spot)].map(({ what, value, rule }) => ({
        what,
        rule,
        message: read(placed(input, spot.steps, value)),
      }));
      if (spot.field.enum && (spot.item || spot.field.fieldKind !== "list")) {
        const message = read(placed(input, spot.steps, sampleEnum(spot)));
        setRaw(input, message, spot.steps, 99);
        messages.push({ what: "a number without a name", rule: "", message });
      }
      return messages.map(({ what, rule, message }) => ({
        title: `${spot.path}: ${what}`,
        path: spot.path,
        rule,
        message,
      }));
    });
    const missing = spotsOf(input)
      .filter(({ field, item }) => !item && isNeeded(field))
      .map(({ path, steps }) => ({
        title: `${path}: missing`,
        path,
        rule: "",
        message: read(absentAt(input, steps)),
      }));
    await expectRefused(wire, operation, [...cases, ...missing]);
  });
});

describe("over Connect JSON, every field", () => {
  /** The error of a refusal: an answer with a status, or the end of a stream. */
  async function refusalOf(operation: Operation, json: string): Promise<{ code: string; message: string }> {
    const isStream = operation.method.methodKind !== "unary";
    const type = `application/${isStream ? "connect+json" : "json"}`;
    const headers = { ...keys.permitted(operation), "content-type": type, "connect-protocol-version": "1" };
    const reply = await send(`${service.url}/${operation.rpc}`, {
      headers,
      body: isStream ? framed(Buffer.from(json)) : json,
    });
    expect(reply.status).toBe(isStream ? 200 : 400);
    const { code = "", message = "" } = (isStream ? endOf(reply).error : reply.json()) ?? {};
    return { code: String(code), message: String(message) };
  }

  test.each(
    named(withFields("connect-json", 8)),
  )("of %s refuses JSON of another type and lone surrogates, with the position", async (_name, operation) => {
    const { input } = operation.method;
    const texts = (spot: Spot) => badTexts(spot).filter(({ what }) => what.includes("surrogate"));
    const cases = spotsOf(input).flatMap((spot) =>
      [...protoMisfits(spot), ...texts(spot)].map(({ what, value }) => ({
        spot,
        what,
        json: protoJson(input, placed(input, spot.steps, value)),
      })),
    );
    const wrong = await pooled(cases, async ({ spot, what, json }) => {
      const { code, message } = await refusalOf(operation, JSON.stringify(json));
      // The library names the field, or else its type.
      const names = [spot.field.name, spot.field.message?.typeName, spot.field.enum?.typeName];
      const isRight =
        code === "invalid_argument" && names.some((name) => name !== undefined && message.includes(name));
      return isRight ? [] : [`${spot.path}: ${what} → ${code}: ${message}`];
    });
    expect(wrong.flat()).toEqual([]);
  });
});
