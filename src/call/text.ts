import { type DescField, type DescMessage, type DescOneof, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp, Value } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { invalid } from "../core/failure.ts";

/** What is wrong, and where. */
interface Flaw {
  readonly path: string;
  readonly rule: string;
}

/** The first flaw in a value, its path from that value on; undefined when there is none. */
type Find = (value: unknown) => Flaw | undefined;

type Members = Readonly<Record<string, unknown>>;

const compiled = new WeakMap<DescMessage, Find>();

/**
 * Refuses text that not every database and every wire can hold: U+0000 and lone
 * surrogates, in fields, lists, map keys, Struct and Value (contract/decisions.md
 * 12). So it does the numbers and times of binary wires that JSON has no form for.
 * The check is compiled per message type at its first use.
 *
 * @throws Failure `invalid` with the path of the first flaw.
 */
export function checkText(schema: DescMessage, message: Message): void {
  const flaw = messageFinder(schema)(message);
  if (flaw !== undefined) throw invalid(flaw.path, flaw.rule);
}

const isBad = (text: string): boolean => text.includes("\0") || !text.isWellFormed();

const badText: Flaw = { path: "", rule: "must not contain U+0000 or a lone surrogate" };
const badNumber: Flaw = { path: "", rule: "must be a finite number" };
const badTime: Flaw = { path: "", rule: "must be a time of the years 1 to 9999" };

// Only ever given the value of a string field.
const findInText: Find = (value) => (isBad(value as string) ? badText : undefined);

/**
 * Finds text that is far too long for its field as well. The rules count the characters of all of it, which takes half a
 * second for 30 MB; a character has at most two UTF-16 units.
 */
function textFinder(field: DescField): Find {
  const max = maxLengthOf(field);
  if (max === undefined) return findInText;
  const tooLong: Flaw = { path: "", rule: `must be at most ${max} characters` };
  return (value) => ((value as string).length > 2 * max ? tooLong : findInText(value));
}

/** The `max_len` rule of a string, or of the items of a list. */
function maxLengthOf(field: DescField): number | undefined {
  const { type } = getOption(field, fieldRules);
  const rules = type.case === "repeated" ? type.value.items?.type : type;
  return rules?.case === "string" && rules.value.maxLen > 0n ? Number(rules.value.maxLen) : undefined;
}

const findInNumber: Find = (value) => (Number.isFinite(value) ? undefined : badNumber);

const earliest = -62_135_596_800n;
const latest = 253_402_300_799n;

// Only ever given a Timestamp.
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
      const flaw = findIn(message);
      if (flaw !== undefined) return flaw;
    }
    return undefined;
  };
  // Known before its fields are compiled: a type may hold itself.
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
  return (value) => at(name, find(value));
}

/** A flaw, seen from one step above. */
const at = (step: string, flaw: Flaw | undefined): Flaw | undefined => flaw && { path: joined(step, flaw.path), rule: flaw.rule };

/** A path below a step: `a` and `b` are `a.b`, `a` and `[0]` are `a[0]`. */
export const joined = (step: string, path: string): string => (path === "" || path.startsWith("[") ? step + path : `${step}.${path}`);

/** The step to a map's entry. A long key is cut: the path says where, it is no copy of the input. */
export const keyStep = (key: string): string => `[${JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)}]`;

function valueFinder(field: DescField): Find | undefined {
  const find = elementFinder(field);
  if (field.fieldKind === "list") return find && listFinder(find);
  if (field.fieldKind === "map" && (find || field.mapKey === ScalarType.STRING)) return mapFinder(find ?? findNothing);
  return find;
}

/** The finder for a field's single value, a list's item or a map's value; undefined where no text can be. */
function elementFinder(field: DescField): Find | undefined {
  if (field.scalar === ScalarType.STRING) return textFinder(field);
  if (field.message?.typeName === "google.protobuf.Timestamp") return findInTime;
  if (!field.message || !holdsFlaws(field.message)) return undefined;
  if (field.message.typeName === "google.protobuf.Value") return findInValue;
  // A Struct in a field is plain JSON.
  if (field.message.typeName === "google.protobuf.Struct") return findInJson;
  return messageFinder(field.message);
}

/** Whether text or a time can be anywhere in a message of this type. */
function holdsFlaws(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (desc.typeName === "google.protobuf.Timestamp") return true;
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      field.scalar === ScalarType.STRING ||
      (field.fieldKind === "map" && field.mapKey === ScalarType.STRING) ||
      (field.message !== undefined && holdsFlaws(field.message, seen)),
  );
}

function listFinder(find: Find): Find {
  return (value) => {
    // A list field holds nothing but an array.
    const items = value as readonly unknown[];
    for (let index = 0; index < items.length; index++) {
      const flaw = find(items[index]);
      if (flaw !== undefined) return at(`[${index}]`, flaw);
    }
    return undefined;
  };
}

function mapFinder(find: Find): Find {
  return (value) => {
    // A map field holds nothing but an object; a key that is no text reads as digits or a word.
    const entries = value as Members;
    for (const key of Object.keys(entries)) {
      if (isBad(key)) return at(keyStep(key), badText);
      const flaw = find(entries[key]);
      if (flaw !== undefined) return at(keyStep(key), flaw);
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

/** A Value, with the path that its JSON has. */
const findInValue: Find = (value) => {
  // A field of type Value, and the Values inside it, hold nothing else.
  const { kind } = value as Value;
  if (kind.case === "stringValue") return findInText(kind.value);
  if (kind.case === "numberValue") return findInNumber(kind.value);
  if (kind.case === "listValue") return findInValues(kind.value.values);
  return kind.case === "structValue" ? findInFields(kind.value.fields) : undefined;
};
const findInValues = listFinder(findInValue);
const findInFields = mapFinder(findInValue);
