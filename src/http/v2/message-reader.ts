import { create, type DescField, type DescMessage, type DescOneof, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { keyStep } from "../../call/text.ts";
import { below, Misfit } from "./misfit.ts";
import { dateReader, enumReader, type Met, type Mode, type ReadValue, scalarReader } from "./scalars.ts";
import { isObject, wellKnown } from "./well-known.ts";
import { spellings, wireOf } from "./wire.ts";

/** A message seen as the members it has; the descriptor says which and of what type. */
export type Members = Record<string, unknown>;

/** Reads a whole message; throws Misfit. */
export type ReadMessage = (json: JsonValue, met: Met) => Members;

/** Sets the member of a message that one JSON member stands for. */
interface FieldReader {
  readonly name: string;
  readonly set: (message: Members, json: JsonValue, met: Met) => void;
}

const compiled = { body: new WeakMap<DescMessage, ReadMessage>(), query: new WeakMap<DescMessage, ReadMessage>() };

/** The reader of a message type, compiled at its first use and kept. */
export function messageReader(desc: DescMessage, mode: Mode): ReadMessage {
  const known = compiled[mode].get(desc);
  if (known) return known;
  const fields = new Map<string, FieldReader>();
  const read: ReadMessage = (json, met) => {
    if (!isObject(json)) throw new Misfit("must be an object");
    return readMembers(desc, fields, json, met);
  };
  // Known before its fields are compiled: a type may hold itself.
  compiled[mode].set(desc, read);
  for (const field of desc.fields) {
    const reader: FieldReader = { name: field.name, set: fieldSetter(field, mode) };
    for (const name of spellings(field)) fields.set(name, reader);
  }
  return read;
}

/** Unknown members are passed over and noted, null is an absent one (contract/v2.md 14.1, contract/decisions.md 12 and 51). */
function readMembers(desc: DescMessage, fields: ReadonlyMap<string, FieldReader>, json: JsonObject, met: Met): Members {
  // A message made by `create` has a member for each field and oneof of its descriptor.
  const message = create(desc) as unknown as Members;
  let field: FieldReader | undefined;
  try {
    for (const key in json) {
      const value = json[key];
      if (value === null || value === undefined) continue;
      field = fields.get(key);
      if (field === undefined) met.idleMember = true;
      else field.set(message, value, met);
    }
  } catch (thrown) {
    throw below(field?.name ?? "", thrown);
  }
  return message;
}

function fieldSetter(field: DescField, mode: Mode): FieldReader["set"] {
  const set = mode === "query" ? querySetter(field) : bodySetter(field);
  const { emptyIsAbsent, unused } = wireOf(field);
  if (!emptyIsAbsent && !unused) return set;
  return (message, json, met) => {
    if (unused) met.idleMember = true;
    if (!emptyIsAbsent || json !== "") set(message, json, met);
  };
}

function bodySetter(field: DescField): FieldReader["set"] {
  const { localName } = field;
  const read = fieldReader(field);
  if (field.oneof) return oneofSetter(field.oneof, field, read);
  const flag = emptyFlag(field);
  if (flag === undefined) {
    return (message, json, met) => {
      message[localName] = read(json, met);
    };
  }
  return (message, json, met) => {
    message[localName] = read(json, met);
    if (Array.isArray(json) && json.length === 0) message[flag] = true;
  };
}

/** A query has text for scalars and words; whatever is larger needs a body. */
function querySetter(field: DescField): FieldReader["set"] {
  const { localName } = field;
  const read = singleReader(field, "query");
  const set: FieldReader["set"] = (message, json, met) => {
    if (Array.isArray(json)) throw new Misfit("must be given once");
    message[localName] = read(json, met);
  };
  return "oneof" in field && field.oneof ? oneofSetter(field.oneof, field, read) : set;
}

function oneofSetter(oneof: DescOneof, { localName }: DescField, read: ReadValue): FieldReader["set"] {
  const group = oneof.localName;
  return (message, json, met) => {
    // `create` gives every oneof its object.
    const present = (message[group] as { case: string | undefined }).case;
    if (present !== undefined && present !== localName) {
      throw new Misfit(`must not stand beside ${oneof.fields.find((other) => other.localName === present)?.name}`);
    }
    message[group] = { case: localName, value: read(json, met) };
  };
}

/** The boolean field that an explicitly empty list sets, by `wire.empty_sets`. */
function emptyFlag(field: DescField): string | undefined {
  const { emptySets } = wireOf(field);
  if (emptySets === "") return undefined;
  const flag = field.parent.fields.find(({ name }) => name === emptySets);
  if (field.fieldKind !== "list" || flag?.scalar !== ScalarType.BOOL) throw new Error(`${field}: empty_sets needs a list and a boolean`);
  return flag.localName;
}

function fieldReader(field: DescField): ReadValue {
  switch (field.fieldKind) {
    case "list":
      return listReader(field);
    case "map":
      return mapReader(field);
    default:
      return singleReader(field, "body");
  }
}

function singleReader(field: DescField, mode: Mode): ReadValue {
  if (field.fieldKind === "enum") return enumReader(field);
  if (wireOf(field).date) return dateReader(mode);
  if (field.fieldKind === "scalar") return scalarReader(field.scalar, mode);
  if (mode === "body" || field.message?.typeName === "google.protobuf.Timestamp") return elementReader(field);
  return () => {
    throw new Misfit("must be sent in a JSON body");
  };
}

/** The reader of a message, a list's item or a map's value. */
function elementReader(field: DescField): ReadValue {
  if (field.message) return wellKnown(field.message)?.read ?? messageReader(field.message, "body");
  if (field.enum) return enumReader(field);
  return scalarReader(field.scalar, "body");
}

function listReader(field: DescField): ReadValue {
  const readItem = elementReader(field);
  const { textOrParts } = wireOf(field);
  const readList: ReadValue = (json, met) => {
    if (!Array.isArray(json)) throw new Misfit(textOrParts ? "must be a string or an array of parts" : "must be an array");
    const items: unknown[] = [];
    try {
      for (const item of json) items.push(readItem(item, met));
    } catch (thrown) {
      throw below(`[${items.length}]`, thrown);
    }
    return items;
  };
  if (!textOrParts) return readList;
  // A plain string is short for a list with one text part.
  return (json, met) => readList(typeof json === "string" ? [{ type: "text", text: json }] : json, met);
}

function mapReader(field: DescField): ReadValue {
  if (field.fieldKind !== "map" || field.mapKey !== ScalarType.STRING) throw new Error(`${field}: v2 has maps with text keys only`);
  const readItem = elementReader(field);
  return (json, met) => {
    if (!isObject(json)) throw new Misfit("must be an object");
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(json)) {
      try {
        entries.push([key, readItem(item, met)]);
      } catch (thrown) {
        throw below(keyStep(key), thrown);
      }
    }
    // fromEntries defines members, so that `__proto__` is one like any other.
    return Object.fromEntries(entries);
  };
}
