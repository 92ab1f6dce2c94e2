import { type DescField, type DescMessage, type DescOneof, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp, Value } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { invalidArgument } from "../core/failure.ts";

/** A broken rule and the path of its value. */
interface Fault {
  readonly path: string;
  readonly rule: string;
}

/** Finds the first fault in a value, with its path from that value on; undefined when there is none. */
type Find = (value: unknown) => Fault | undefined;

type Members = Readonly<Record<string, unknown>>;

const compiled = new WeakMap<DescMessage, Find>();

/**
 * Refuses text that not every database and every wire can hold: U+0000 and lone
 * surrogates, in fields, lists, map keys, Struct and Value (spec/decisions.md
 * 12). It also refuses numbers and times of binary wires that have no JSON form.
 * The check is compiled per message type at its first use.
 *
 * @throws Failure `invalid_argument` with the path of the first fault.
 */
export function checkText(schema: DescMessage, message: Message): void {
  const fault = messageFinder(schema)(message);
  if (fault !== undefined) throw invalidArgument(fault.path, fault.rule);
}

const isBad = (text: string): boolean => text.includes("\0") || !text.isWellFormed();

const badText: Fault = { path: "", rule: "must not contain U+0000 or a lone surrogate" };
const badNumber: Fault = { path: "", rule: "must be a finite number" };
const badTime: Fault = { path: "", rule: "must be a time of the years 1 to 9999" };

// Called only with the value of a string field.
const findInText: Find = (value) => (isBad(value as string) ? badText : undefined);

/**
 * Also finds text that is far too long for its field. The field rules would count all its characters, which takes half
 * a second for 30 MB. A character has at most two UTF-16 units.
 */
function textFinder(field: DescField): Find {
  const max = maxLengthOf(field);
  if (max === undefined) return findInText;
  const tooLong: Fault = { path: "", rule: `must be at most ${max} characters` };
  return (value) => ((value as string).length > 2 * max ? tooLong : findInText(value));
}

/** The `max_len` rule of a string, of the items of a list, or of the values of a map. */
function maxLengthOf(field: DescField): number | undefined {
  const { type } = getOption(field, fieldRules);
  const rules = type.case === "repeated" ? type.value.items?.type : type.case === "map" ? type.value.values?.type : type;
  return rules?.case === "string" && rules.value.maxLen > 0n ? Number(rules.value.maxLen) : undefined;
}

const findInNumber: Find = (value) => (Number.isFinite(value) ? undefined : badNumber);

const earliest = -62_135_596_800n;
const latest = 253_402_300_799n;

// Called only with a Timestamp.
const findInTime: Find = (value) => {
  const { seconds, nanos } = value as Timestamp;
  return seconds >= earliest && seconds <= latest && nanos >= 0 && nanos < 1e9 ? undefined : badTime;
};

function messageFinder(desc: DescMessage): Find {
  const known = compiled.get(desc);
  if (known) return known;
  const finders: Find[] = [];
  const find: Find = (message) => {
    for (const findIn of finders) {
      const fault = findIn(message);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  // Store the finder before its fields are compiled: a type may contain itself.
  compiled.set(desc, find);
  for (const member of desc.members) {
    const finder = member.kind === "oneof" ? oneofFinder(member) : fieldFinder(member);
    if (finder) finders.push(finder);
  }
  return find;
}

function oneofFinder({ localName, fields }: DescOneof): Find | undefined {
  const cases = new Map<string | undefined, Find>();
  for (const field of fields) {
    const find = elementFinder(field);
    if (find) cases.set(field.localName, below(field.name, find));
  }
  if (cases.size === 0) return undefined;
  return (message) => {
    // Every oneof has its object, empty when nothing is set.
    const group = (message as Members)[localName] as { case?: string; value?: unknown };
    return cases.get(group.case)?.(group.value);
  };
}

function fieldFinder(field: DescField): Find | undefined {
  const find = valueFinder(field);
  if (!find) return undefined;
  const { localName } = field;
  const findBelow = below(field.name, find);
  return (message) => {
    const value = (message as Members)[localName];
    return value === undefined ? undefined : findBelow(value);
  };
}

function below(name: string, find: Find): Find {
  return (value) => prefixed(name, find(value));
}

/** A fault with its path extended by one step. */
const prefixed = (step: string, fault: Fault | undefined): Fault | undefined =>
  fault && { path: joinPath(step, fault.path), rule: fault.rule };

/** A path below a step: `a` and `b` are `a.b`, `a` and `[0]` are `a[0]`. */
export const joinPath = (step: string, path: string): string => (path === "" || path.startsWith("[") ? step + path : `${step}.${path}`);

/** The step to a map's entry. A long key is cut: the path names a place and does not copy the input. */
export const keyStep = (key: string): string => `[${JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)}]`;

function valueFinder(field: DescField): Find | undefined {
  const find = elementFinder(field);
  if (field.fieldKind === "list") return find && listFinder(find);
  if (field.fieldKind === "map" && (find || field.mapKey === ScalarType.STRING)) return mapFinder(find ?? findNothing);
  return find;
}

/** The finder for a field's single value, a list's item or a map's value; undefined when it cannot contain text. */
function elementFinder(field: DescField): Find | undefined {
  if (field.scalar === ScalarType.STRING) return textFinder(field);
  if (field.message?.typeName === "google.protobuf.Timestamp") return findInTime;
  if (!field.message || !mayHaveFaults(field.message)) return undefined;
  if (field.message.typeName === "google.protobuf.Value") return findInValue;
  // A Struct in a field is plain JSON.
  if (field.message.typeName === "google.protobuf.Struct") return findInJson;
  return messageFinder(field.message);
}

/** Whether a message of this type can contain text or a time at any depth. */
function mayHaveFaults(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (desc.typeName === "google.protobuf.Timestamp") return true;
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      field.scalar === ScalarType.STRING ||
      (field.fieldKind === "map" && field.mapKey === ScalarType.STRING) ||
      (field.message !== undefined && mayHaveFaults(field.message, seen)),
  );
}

function listFinder(find: Find): Find {
  return (value) => {
    // The value of a list field is always an array.
    const items = value as readonly unknown[];
    for (let index = 0; index < items.length; index++) {
      const fault = find(items[index]);
      if (fault !== undefined) return prefixed(`[${index}]`, fault);
    }
    return undefined;
  };
}

function mapFinder(find: Find): Find {
  return (value) => {
    // The value of a map field is always an object; keys that are not strings appear as digits, `true` or `false`.
    const entries = value as Members;
    for (const key of Object.keys(entries)) {
      if (isBad(key)) return prefixed(keyStep(key), badText);
      const fault = find(entries[key]);
      if (fault !== undefined) return prefixed(keyStep(key), fault);
    }
    return undefined;
  };
}

const findNothing: Find = () => undefined;

/** Plain JSON of any shape. */
const findInJson: Find = (value) => {
  if (typeof value === "string") return findInText(value);
  if (typeof value === "number") return findInNumber(value);
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? findInItems(value) : findInMembers(value);
};
const findInItems = listFinder(findInJson);
const findInMembers = mapFinder(findInJson);

/** Finds faults in a Value, with the path of its JSON. */
const findInValue: Find = (value) => {
  // A field of type Value, and the Values inside it, contain only Values.
  const { kind } = value as Value;
  if (kind.case === "stringValue") return findInText(kind.value);
  if (kind.case === "numberValue") return findInNumber(kind.value);
  if (kind.case === "listValue") return findInValues(kind.value.values);
  return kind.case === "structValue" ? findInFields(kind.value.fields) : undefined;
};
const findInValues = listFinder(findInValue);
const findInFields = mapFinder(findInValue);
