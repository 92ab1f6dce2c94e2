import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  isMessage,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { invalidArgument } from "../../core/failure.ts";
import { heldBytes } from "../../core/files/part.ts";
import { isObject } from "../../core/json.ts";
import { keyStep, Mistakes } from "../../pipeline/mistakes.ts";
import { findMistakes, refuseMistakes } from "../../pipeline/validate.ts";
import { findIgnoredMembers, messageShapes } from "../warnings/shape.ts";
import type { Warnings } from "../warnings/warnings.ts";
import { queryNester } from "./nested-query.ts";
import {
  dateReader,
  enumReader,
  FieldError,
  type Mode,
  noteMistake,
  type ReaderNotes,
  type ReadValue,
  scalarReader,
} from "./scalars.ts";
import { wellKnownForm } from "./well-known.ts";
import { spellings, wireOptions } from "./wire.ts";

/** A message as a record of its members; the descriptor has their types. */
export type Members = Record<string, unknown>;

/** Reads a message. @throws FieldError */
export type ReadMessage = (json: JsonValue, notes: ReaderNotes) => Members;

/** Sets the message member of one JSON member. */
interface FieldReader {
  readonly name: string;
  readonly set: (message: Members, json: JsonValue, notes: ReaderNotes) => void;
}

const compiled = {
  body: new WeakMap<DescMessage, ReadMessage>(),
  query: new WeakMap<DescMessage, ReadMessage>(),
};

/** The reader of a message type, compiled at its first use and cached. */
function messageReader(desc: DescMessage, mode: Mode): ReadMessage {
  const known = compiled[mode].get(desc);
  if (known) return known;
  const fields = new Map<string, FieldReader>();
  const read: ReadMessage = (json, notes) => {
    if (!isObject(json)) throw new FieldError("must be an object");
    return readMembers(desc, fields, json, notes);
  };
  // Store the reader before its fields are compiled: a type may contain itself.
  compiled[mode].set(desc, read);
  for (const field of desc.fields) {
    const reader: FieldReader = { name: field.name, set: fieldSetter(field, mode) };
    for (const name of spellings(field)) fields.set(name, reader);
  }
  return read;
}

/**
 * Reads the members. Unknown members are skipped and noted; null is absent (spec/api.md 14.1,
 * spec/decisions.md 12 and 51).
 */
function readMembers(
  desc: DescMessage,
  fields: ReadonlyMap<string, FieldReader>,
  json: JsonObject,
  notes: ReaderNotes,
): Members {
  // A message made by `create` has a member for each field and oneof of its descriptor.
  const message: Members = create(desc);
  if (heldBytes in json) Object.assign(message, { [heldBytes]: json[heldBytes] });
  const { mistakes } = notes;
  for (const key in json) {
    const value = json[key];
    if (value === null || value === undefined) continue;
    const field = fields.get(key);
    if (field === undefined) {
      notes.hasIgnoredMember = true;
      continue;
    }
    const before = mistakes.count;
    try {
      field.set(message, value, notes);
    } catch (thrown) {
      noteMistake(thrown, notes);
    }
    if (mistakes.count > before) mistakes.place(before, field.name);
    if (mistakes.isFull) break;
  }
  return message;
}

function fieldSetter(field: DescField, mode: Mode): FieldReader["set"] {
  const set = mode === "query" ? querySetter(field) : bodySetter(field);
  const { emptyIsAbsent, unused } = wireOptions(field);
  if (!emptyIsAbsent && !unused) return set;
  return (message, json, notes) => {
    if (unused) notes.hasIgnoredMember = true;
    if (!emptyIsAbsent || json !== "") set(message, json, notes);
  };
}

function bodySetter(field: DescField): FieldReader["set"] {
  const { localName } = field;
  const read = fieldReader(field);
  if (field.oneof) return oneofSetter(field.oneof, field, read);
  const flag = emptyFlag(field);
  if (flag === undefined) {
    return (message, json, notes) => {
      message[localName] = read(json, notes);
    };
  }
  return (message, json, notes) => {
    message[localName] = read(json, notes);
    if (Array.isArray(json) && json.length === 0) message[flag] = true;
  };
}

/**
 * A query has text for scalars, enum names and the values of a map (`queryNester`); any other type needs a
 * body.
 */
function querySetter(field: DescField): FieldReader["set"] {
  const { localName } = field;
  const read = field.fieldKind === "map" ? mapReader(field) : singleReader(field, "query");
  const set: FieldReader["set"] = (message, json, notes) => {
    if (Array.isArray(json)) throw new FieldError("must be given once");
    message[localName] = read(json, notes);
  };
  return "oneof" in field && field.oneof ? oneofSetter(field.oneof, field, read) : set;
}

function oneofSetter(oneof: DescOneof, field: DescField, read: ReadValue): FieldReader["set"] {
  const { localName } = field;
  const group = oneof.localName;
  const empty = emptyElement(field);
  return (message, json, notes) => {
    // `create` sets the object of every oneof.
    const current = (message[group] as { case: string | undefined }).case;
    if (current !== undefined && current !== localName) {
      throw new FieldError(
        `cannot be given with ${oneof.fields.find((other) => other.localName === current)?.name}`,
      );
    }
    // Given, even if it is not valid: the rule of the oneof is kept.
    const given: { case: string; value?: unknown } = { case: localName, value: empty };
    message[group] = given;
    given.value = read(json, notes);
  };
}

/** The boolean field that an explicitly empty list sets, by `wire.empty_sets`. */
function emptyFlag(field: DescField): string | undefined {
  const { emptySets } = wireOptions(field);
  if (emptySets === "") return undefined;
  const flag = field.parent.fields.find(({ name }) => name === emptySets);
  if (field.fieldKind !== "list" || flag?.scalar !== ScalarType.BOOL)
    throw new Error(`${field}: empty_sets needs a list and a boolean`);
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
  if (wireOptions(field).date) return dateReader(mode);
  if (field.fieldKind === "scalar") return scalarReader(field.scalar, mode);
  if (mode === "body" || field.message?.typeName === "google.protobuf.Timestamp") return elementReader(field);
  return () => {
    throw new FieldError("must be sent in a JSON body");
  };
}

/** The reader of a message, a list's item or a map's value. */
function elementReader(field: DescField): ReadValue {
  if (field.message) return wellKnownForm(field.message)?.read ?? messageReader(field.message, "body");
  if (field.enum) return enumReader(field);
  return scalarReader(field.scalar, "body");
}

/**
 * A replacement for an element that is not valid, so that the others keep their places. A Struct in a field
 * is plain JSON.
 */
function emptyElement({ message, scalar }: DescField): unknown {
  if (message) return message.typeName === "google.protobuf.Struct" ? {} : create(message);
  return scalar === undefined ? 0 : scalarZeroValue(scalar, false);
}

function listReader(field: DescField): ReadValue {
  const readItem = elementReader(field);
  const empty = emptyElement(field);
  const { textOrParts } = wireOptions(field);
  const readList: ReadValue = (json, notes) => {
    if (!Array.isArray(json))
      throw new FieldError(textOrParts ? "must be a string or an array of parts" : "must be an array");
    const items: unknown[] = [];
    const { mistakes } = notes;
    for (const item of json) {
      const before = mistakes.count;
      try {
        items.push(readItem(item, notes));
      } catch (thrown) {
        noteMistake(thrown, notes);
        items.push(empty);
      }
      if (mistakes.count > before) mistakes.place(before, `[${items.length - 1}]`);
      if (mistakes.isFull) break;
    }
    return items;
  };
  if (!textOrParts) return readList;
  // A plain string is short for a list with one text part.
  return (json, notes) => readList(typeof json === "string" ? [{ type: "text", text: json }] : json, notes);
}

function mapReader(field: DescField): ReadValue {
  if (field.fieldKind !== "map" || field.mapKey !== ScalarType.STRING)
    throw new Error(`${field}: v2 has maps with text keys only`);
  const readItem = elementReader(field);
  return (json, notes) => {
    if (!isObject(json)) throw new FieldError("must be an object");
    const entries: [string, unknown][] = [];
    const { mistakes } = notes;
    for (const [key, item] of Object.entries(json)) {
      const before = mistakes.count;
      try {
        entries.push([key, readItem(item, notes)]);
      } catch (thrown) {
        noteMistake(thrown, notes);
      }
      if (mistakes.count > before) mistakes.place(before, keyStep(key));
      if (mistakes.isFull) break;
    }
    // fromEntries defines members, so `__proto__` is an ordinary member.
    return Object.fromEntries(entries);
  };
}

/**
 * Reads a request.
 *
 * @param warnings receives the members without effect, also when the request is refused.
 * @throws Failure `invalid_argument` with the field's path and the rule that it breaks, and the other
 * mistakes of the request: values that are not valid for their fields first, then broken rules of the other
 * fields (spec/api.md 8.88).
 */
export type Reader<Desc extends DescMessage> = (
  json: JsonValue,
  mode: Mode,
  warnings?: Warnings,
) => MessageShape<Desc>;

const shapes = messageShapes(spellings);

/**
 * Compiles the reader of a message type, for bodies and for queries: one closure per
 * field, so that calls do not read descriptors. It accepts both spellings of a field's
 * name, warns of unknown members, and treats null as an absent field
 * (spec/decisions.md 12, 13 and 51).
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileReader<Desc extends DescMessage>(desc: Desc): Reader<Desc> {
  const body = messageReader(desc, "body");
  const query = messageReader(desc, "query");
  const nest = queryNester(desc);
  return (input, mode, warnings) => {
    if (!isObject(input)) throw invalidArgument("", "the body must be a JSON object");
    const json = mode === "body" ? input : nest(input);
    const notes: ReaderNotes = { hasIgnoredMember: false, mistakes: new Mistakes() };
    try {
      const message = mode === "body" ? body(json, notes) : query(json, notes);
      if (!isMessage(message, desc)) throw new Error(`the result is not a ${desc.typeName}`);
      if (notes.mistakes.count > 0) findMistakes(desc, message, notes.mistakes);
      refuseMistakes(notes.mistakes);
      return message;
    } finally {
      // Search for their names only when there are any.
      if (notes.hasIgnoredMember && warnings !== undefined) findIgnoredMembers(shapes(desc), json, warnings);
    }
  };
}
