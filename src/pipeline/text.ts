import {
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { Timestamp, Value } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Mistake } from "../core/failure.ts";
import { keyStep, type Mistakes } from "./mistakes.ts";

/** Adds the mistakes of a value, with their paths from that value on. */
type Find = (value: unknown, found: Mistakes) => void;

type Members = Readonly<Record<string, unknown>>;

const compiled = new WeakMap<DescMessage, Find>();

/**
 * Refuses text that not every database and every wire can hold: U+0000 and lone
 * surrogates, in fields, lists, map keys, Struct and Value (spec/decisions.md
 * 12). It also refuses numbers and times of binary wires that have no JSON form.
 * The check is compiled per message type at its first use.
 *
 * @param found receives the mistakes.
 */
export function findTextMistakes(schema: DescMessage, message: Message, found: Mistakes): void {
  messageFinder(schema)(message, found);
}

const isBad = (text: string): boolean => text.includes("\0") || !text.isWellFormed();

const badText: Mistake = { path: "", rule: "must not contain U+0000 or a lone surrogate" };
const badNumber: Mistake = { path: "", rule: "must be a finite number" };
const badTime: Mistake = { path: "", rule: "must be a time of the years 1 to 9999" };

// Called only with the value of a string field.
const findInText: Find = (value, found) => {
  if (isBad(value as string)) found.add(badText);
};

/**
 * Also finds text that is far too long for its field. The field rules would count all its characters, which
 * takes half a second for 30 MB. A character has at most two UTF-16 units.
 */
function textFinder(field: DescField): Find {
  const max = maxLengthOf(field);
  if (max === undefined) return findInText;
  const tooLong: Mistake = { path: "", rule: `must be at most ${max} characters` };
  return (value, found) => {
    const { length } = value as string;
    if (length <= 2 * max) return findInText(value, found);
    found.add(tooLong);
    if (length > countedLength) found.end();
  };
}

/** The field rules are not checked with a text of more UTF-16 units. */
const countedLength = 65_536;

/** The `max_len` rule of a string, of the items of a list, or of the values of a map. */
function maxLengthOf(field: DescField): number | undefined {
  const { type } = getOption(field, fieldRules);
  const rules =
    type.case === "repeated" ? type.value.items?.type : type.case === "map" ? type.value.values?.type : type;
  return rules?.case === "string" && rules.value.maxLen > 0n ? Number(rules.value.maxLen) : undefined;
}

const findInNumber: Find = (value, found) => {
  if (!Number.isFinite(value)) found.add(badNumber);
};

const earliest = -62_135_596_800n;
const latest = 253_402_300_799n;

// Called only with a Timestamp.
const findInTime: Find = (value, found) => {
  const { seconds, nanos } = value as Timestamp;
  if (!(seconds >= earliest && seconds <= latest && nanos >= 0 && nanos < 1e9)) found.add(badTime);
};

function messageFinder(desc: DescMessage): Find {
  const known = compiled.get(desc);
  if (known) return known;
  const finders: Find[] = [];
  const find: Find = (message, found) => {
    for (const findIn of finders) {
      if (found.isFull) return;
      findIn(message, found);
    }
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
  return (message, found) => {
    // Every oneof has its object, empty when nothing is set.
    const group = (message as Members)[localName] as { case?: string; value?: unknown };
    cases.get(group.case)?.(group.value, found);
  };
}

function fieldFinder(field: DescField): Find | undefined {
  const find = valueFinder(field);
  if (!find) return undefined;
  const { localName } = field;
  const findBelow = below(field.name, find);
  return (message, found) => {
    const value = (message as Members)[localName];
    if (value !== undefined) findBelow(value, found);
  };
}

function below(name: string, find: Find): Find {
  return (value, found) => {
    const before = found.count;
    find(value, found);
    if (found.count > before) found.place(before, name);
  };
}

function valueFinder(field: DescField): Find | undefined {
  const find = elementFinder(field);
  if (field.fieldKind === "list") return find && listFinder(find);
  if (field.fieldKind === "map" && (find || field.mapKey === ScalarType.STRING))
    return mapFinder(find ?? findNothing);
  return find;
}

/**
 * The finder for a field's single value, a list's item or a map's value; undefined when it cannot contain
 * text.
 */
function elementFinder(field: DescField): Find | undefined {
  if (field.scalar === ScalarType.STRING) return textFinder(field);
  if (field.message?.typeName === "google.protobuf.Timestamp") return findInTime;
  if (!field.message || !mayHaveMistakes(field.message)) return undefined;
  if (field.message.typeName === "google.protobuf.Value") return findInValue;
  // A Struct in a field is plain JSON.
  if (field.message.typeName === "google.protobuf.Struct") return findInJson;
  return messageFinder(field.message);
}

/** Whether a message of this type can contain text or a time at any depth. */
function mayHaveMistakes(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (desc.typeName === "google.protobuf.Timestamp") return true;
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      field.scalar === ScalarType.STRING ||
      (field.fieldKind === "map" && field.mapKey === ScalarType.STRING) ||
      (field.message !== undefined && mayHaveMistakes(field.message, seen)),
  );
}

function listFinder(find: Find): Find {
  return (value, found) => {
    // The value of a list field is always an array.
    const items = value as readonly unknown[];
    for (let index = 0; index < items.length && !found.isFull; index++) {
      const before = found.count;
      find(items[index], found);
      if (found.count > before) found.place(before, `[${index}]`);
    }
  };
}

function mapFinder(find: Find): Find {
  return (value, found) => {
    // The value of a map field is always an object; keys that are not strings appear as digits, `true` or
    // `false`.
    const entries = value as Members;
    for (const key of Object.keys(entries)) {
      if (found.isFull) return;
      const before = found.count;
      if (isBad(key)) found.add(badText);
      else find(entries[key], found);
      if (found.count > before) found.place(before, keyStep(key));
    }
  };
}

const findNothing: Find = () => undefined;

const findInJson: Find = (value, found) => {
  if (typeof value === "string") findInText(value, found);
  else if (typeof value === "number") findInNumber(value, found);
  else if (Array.isArray(value)) findInItems(value, found);
  else if (typeof value === "object" && value !== null) findInMembers(value, found);
};
const findInItems = listFinder(findInJson);
const findInMembers = mapFinder(findInJson);

/** Finds mistakes in a Value, with the path of its JSON. */
const findInValue: Find = (value, found) => {
  // A field of type Value, and the Values inside it, contain only Values.
  const { kind } = value as Value;
  if (kind.case === "stringValue") findInText(kind.value, found);
  else if (kind.case === "numberValue") findInNumber(kind.value, found);
  else if (kind.case === "listValue") findInValues(kind.value.values, found);
  else if (kind.case === "structValue") findInFields(kind.value.fields, found);
};
const findInValues = listFinder(findInValue);
const findInFields = mapFinder(findInValue);
