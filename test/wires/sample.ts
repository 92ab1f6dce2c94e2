import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { enumNames, wireOptions } from "../../src/http/v2/wire.ts";

/** A position in a request: a field, or the first item of a list. */
export interface Spot {
  /** Its name in refusals, for instance `message.content[0].type`. */
  readonly path: string;
  /** Its path in JSON. */
  readonly steps: readonly (string | number)[];
  readonly field: DescField;
  /** The list's first item, not the list. */
  readonly item: boolean;
  /** The rules there. */
  readonly rules: FieldRules;
}

/** The rules of a field's descriptor. */
const rulesOf = (field: DescField): FieldRules => getOption(field, fieldRules);

/** The smallest request that every rule of a message type accepts, in v2's spelling. */
export function sampleOf(desc: DescMessage): JsonObject {
  return Object.fromEntries(desc.fields.filter(isNeeded).map((field) => [field.name, sampleValue(field)]));
}

/** A value that a field's rules accept. */
export function sampleValue(field: DescField): JsonValue {
  if (field.fieldKind !== "list") return sampleElement(field, rulesOf(field));
  return [sampleElement(field, itemRules(rulesOf(field)) ?? rulesOf(field))];
}

/** Every position in a request of this type, including nested messages. */
export function spotsOf(desc: DescMessage, path = "", steps: Spot["steps"] = []): Spot[] {
  // A hidden field is not part of v2, whose reader makes the messages of these tests.
  const fields = desc.fields.filter((field) => !wireOptions(field).hidden);
  return fields.flatMap((field) => {
    const here = path === "" ? field.name : `${path}.${field.name}`;
    const at = [...steps, field.name];
    const spot: Spot = { path: here, steps: at, field, item: false, rules: rulesOf(field) };
    if (field.fieldKind !== "list") return [spot, ...nestedSpots(field, here, at)];
    const first: Spot = {
      path: `${here}[0]`,
      steps: [...at, 0],
      field,
      item: true,
      rules: itemRules(spot.rules) ?? emptyRules(field),
    };
    return [spot, first, ...nestedSpots(field, first.path, first.steps)];
  });
}

/** The sample of a type, with `value` at a spot and the required fields around it. */
export function placed(desc: DescMessage, steps: Spot["steps"], value: JsonValue): JsonObject {
  const json = sampleOf(desc);
  const [name, ...rest] = steps;
  const field = desc.fields.find((other) => other.name === name);
  if (!field) throw new Error(`${desc.typeName} has no ${name}`);
  json[field.name] = placedIn(field, rest, value);
  return json;
}

function placedIn(field: DescField, steps: Spot["steps"], value: JsonValue): JsonValue {
  if (steps.length === 0) return value;
  if (steps[0] === 0) return [placedIn(field, steps.slice(1), value)];
  if (!field.message) throw new Error(`${field.name} holds no messages`);
  return placed(field.message, steps, value);
}

const isWellKnown = (desc: DescMessage): boolean => desc.typeName.startsWith("google.protobuf.");

const nestedSpots = ({ message }: DescField, path: string, steps: Spot["steps"]): Spot[] =>
  message && !isWellKnown(message) ? spotsOf(message, path, steps) : [];

const itemRules = ({ type }: FieldRules): FieldRules | undefined =>
  type.case === "repeated" ? type.value.items : undefined;

/** No rules: an item of this field when the field states nothing about items. */
const emptyRules = (field: DescField): FieldRules => ({
  ...rulesOf(field),
  required: false,
  type: { case: undefined },
});

const explicitPresence = 1;

/** A required field: it must be present, or its zero value breaks a rule. */
export function isNeeded(field: DescField): boolean {
  const rules = rulesOf(field);
  if (rules.required) return true;
  if (field.presence === explicitPresence) return false;
  const { type } = rules;
  switch (type.case) {
    case "string":
      return (
        type.value.minLen > 0n ||
        !new RegExp(type.value.pattern).test("") ||
        type.value.wellKnown.case === "email"
      );
    case "int32":
    case "int64":
      return type.value.greaterThan.case === "gte" && type.value.greaterThan.value > 0;
    case "enum":
      return type.value.notIn.includes(0);
    case "repeated":
      return type.value.minItems > 0n;
    default:
      return false;
  }
}

function sampleElement(field: DescField, { type }: FieldRules): JsonValue {
  if (field.enum) {
    const barred = type.case === "enum" ? type.value.notIn : [];
    const { names: words } = enumNames(field.enum);
    return [...words].find(([number]) => number !== 0 && !barred.includes(number))?.[1] ?? "";
  }
  if (field.message) return sampleMessage(field.message);
  if (field.scalar === ScalarType.BOOL) return true;
  if (field.scalar !== ScalarType.STRING) return leastOf(type);
  if (type.case !== "string") return "x";
  if (type.value.wellKnown.case === "email") return "ann@example.com";
  return sampleText(type.value.pattern, Math.max(1, Number(type.value.minLen)));
}

/**
 * The first text that matches a pattern: a run of letters, a task id, a UUID, an origin, or one of the
 * pattern's values.
 */
function sampleText(pattern: string, length: number): string {
  const forms = [
    "x".repeat(length),
    "A".repeat(22),
    "be268223-40b2-4f3c-a907-c12eb1699283",
    "https://x.example",
    ...pattern.split(/\W+/),
  ];
  return forms.find((text) => new RegExp(pattern).test(text)) ?? "";
}

function sampleMessage(desc: DescMessage): JsonValue {
  if (desc.typeName === "google.protobuf.Timestamp") return "2026-09-21T14:14:15Z";
  if (desc.typeName === "google.protobuf.FieldMask") return "name";
  return isWellKnown(desc) ? {} : sampleOf(desc);
}

/** The least number that the rules accept, or 1. */
function leastOf(type: FieldRules["type"]): number {
  const bounded = (type.case === "int32" || type.case === "int64") && type.value.greaterThan.case === "gte";
  return bounded ? Number(type.value.greaterThan.value) : 1;
}
