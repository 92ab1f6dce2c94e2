import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { enumNames } from "../../../src/http/v2/wire.ts";
import { badTexts, inside, misfits, outside } from "../../wires/bad-values.ts";
import { isNeeded, placed, type Spot, sampleValue, spotsOf } from "../../wires/sample.ts";
import type { Known } from "./known-values.ts";
import { likely } from "./likely-values.ts";

/** Requests of a message type, in v2's spelling. */
export interface Messages {
  /** Valid according to the descriptor. */
  readonly valid: fc.Arbitrary<JsonObject>;
  /** One member is wrong: of another type, just outside its rules, one too few, one too many. */
  readonly nearlyValid: fc.Arbitrary<JsonObject>;
}

/** Makes requests of any type from its descriptor; each is made once and cached. */
export function messagesFrom(known: Known): (desc: DescMessage) => Messages {
  const byName = likely(known);
  const kept = new Map<DescMessage, Messages>();

  function valuesOf(field: DescField): fc.Arbitrary<JsonValue> {
    const named = byName[field.name];
    if (named) return named;
    if (field.enum) return oneOrMore(field, fc.constantFrom(...enumNames(field.enum).names.values()));
    if (field.message && !isWellKnown(field.message)) return oneOrMore(field, validOf(field.message));
    if (field.scalar === ScalarType.BOOL) return fc.boolean();
    const longest = field.fieldKind === "list" ? [] : insideOf(field);
    // Stored values are listed again and again, so the longest are rare.
    const limits = longest.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...longest) }];
    return fc.oneof({ weight: 15, arbitrary: fc.constant(sampleValue(field)) }, ...limits);
  }

  function validOf(desc: DescMessage): fc.Arbitrary<JsonObject> {
    const members = desc.fields.map((field) =>
      fc.tuple(fc.constant(field), isNeeded(field) ? valuesOf(field) : seldom(valuesOf(field))),
    );
    return fc.tuple(...members).map((pairs) => matched(memberwise(pairs), known));
  }

  return (desc) => {
    const made = kept.get(desc) ?? { valid: validOf(desc), nearlyValid: nearlyValid(desc, validOf(desc)) };
    kept.set(desc, made);
    return made;
  };
}

const isWellKnown = (desc: DescMessage): boolean => desc.typeName.startsWith("google.protobuf.");

const seldom = (values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });

const oneOrMore = (field: DescField, values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> =>
  field.fieldKind === "list" ? fc.array(values, { minLength: 1, maxLength: 3 }) : values;

/** The longest text and the greatest number that a field accepts. */
const insideOf = (field: DescField): JsonValue[] =>
  spotsOf(field.parent).flatMap((spot) =>
    spot.field === field && spot.steps.length === 1 ? inside(spot) : [],
  );

/** Of a oneof's fields only the first that is set. */
function memberwise(pairs: readonly (readonly [DescField, JsonValue | undefined])[]): JsonObject {
  const filled = new Set<unknown>();
  const json: JsonObject = {};
  for (const [field, value] of pairs) {
    const { oneof } = field;
    if (value === undefined || (oneof && filled.has(oneof))) continue;
    if (oneof) filled.add(oneof);
    json[field.name] = value;
  }
  return json;
}

/** An event belongs to its task: otherwise no decision would be made. */
function matched(json: JsonObject, known: Known): JsonObject {
  const { task_id: taskId, event_id: eventId } = json;
  if (typeof taskId !== "string" || eventId === undefined) return json;
  return { ...json, event_id: known.waitingEvent(taskId) ?? eventId };
}

function nearlyValid(desc: DescMessage, valid: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const wrong = spotsOf(desc).flatMap((spot) => wrongAt(desc, spot));
  const replaced =
    wrong.length === 0
      ? []
      : [fc.tuple(valid, fc.constantFrom(...wrong)).map(([json, member]) => ({ ...json, ...member }))];
  const without = fc.tuple(valid, fc.nat(8)).map(([json, nth]) => omit(json, Object.keys(json)[nth]));
  const more = fc
    .tuple(valid, fc.constantFrom(...unknownMembers))
    .map(([json, unknown]) => ({ ...json, ...unknown }));
  return fc.oneof(...replaced.map((arbitrary) => ({ weight: 6, arbitrary })), without, more);
}

/** A request's member with a wrong value at a spot, one for each such value. */
const wrongAt = (desc: DescMessage, spot: Spot): JsonObject[] =>
  [
    ...misfits(spot),
    ...badTexts(spot),
    ...outside(spot),
    ...inside(spot).map((value) => ({ value })),
    { value: null },
  ]
    .filter(({ value }) => !isLong(spot, value))
    .map(({ value }) => {
      const [name = ""] = spot.steps;
      return { [name]: placed(desc, spot.steps, value)[name] ?? null };
    });

/** A wait time that the server would use. */
const isLong = ({ field }: Spot, value: JsonValue): boolean =>
  field.name === "wait_seconds" && Number(value) > 1 && Number(value) <= 60;

const unknownMembers: readonly JsonObject[] = [
  { no_such_member: 1 },
  { constructor: { prototype: { polluted: true } }, toString: null, hasOwnProperty: 1 },
  { taskId: "x", limit: 1 },
  { "": "", " ": [], "a.b": {} },
];

const omit = (json: JsonObject, name: string | undefined): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([other]) => other !== name));
