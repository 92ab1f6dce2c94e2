import type { DescField, DescMessage, DescOneof, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Members } from "./message-reader.ts";
import { enumWriter, scalarWriter, type WriteValue } from "./scalars.ts";
import { wellKnown } from "./well-known.ts";
import { wireOf } from "./wire.ts";

/**
 * Adds a message's members to the JSON object `out`. Plain objects and one
 * JSON.stringify over them all cost as much as building text by hand, and less code.
 */
export type WriteMembers = (message: Members, out: JsonObject) => JsonObject;

/** Adds one member, unless it is left out. */
type WriteMember = (message: Members, out: JsonObject) => void;

const compiled = new WeakMap<DescMessage, WriteMembers>();

/** The writer of a message type, compiled at its first use and kept. */
export function membersWriter(desc: DescMessage): WriteMembers {
  const known = compiled.get(desc);
  if (known) return known;
  const writers: WriteMember[] = [];
  const write = all(writers);
  // Known before its fields are compiled: a type may hold itself.
  compiled.set(desc, write);
  for (const member of desc.members) writers.push(memberWriter(member));
  return write;
}

/** The writer of a message type without the fields of these names. */
export function membersWriterExcept(desc: DescMessage, names: ReadonlySet<string>): WriteMembers {
  return all(desc.members.filter(({ name }) => !names.has(name)).map(memberWriter));
}

const memberWriter = (member: DescField | DescOneof): WriteMember => (member.kind === "oneof" ? oneofWriter(member) : fieldWriter(member));

function all(writers: readonly WriteMember[]): WriteMembers {
  return (message, out) => {
    for (const write of writers) write(message, out);
    return out;
  };
}

function oneofWriter({ localName, fields }: DescOneof): WriteMember {
  const cases = new Map<string | undefined, readonly [name: string, write: WriteValue]>();
  for (const field of fields) cases.set(field.localName, [field.name, elementWriter(field)]);
  return (message, out) => {
    // Every oneof has its object; `case` is undefined when none is set.
    const group = message[localName] as { case?: string; value?: unknown };
    const found = cases.get(group.case);
    if (found) out[found[0]] = found[1](group.value);
  };
}

/** Implicit presence is always written; optional and message fields only when present. */
function fieldWriter(field: DescField): WriteMember {
  const { name, localName } = field;
  const { orNull, omitEmpty } = wireOf(field);
  const write = valueWriter(field);
  const isAbsent = omitEmpty ? isEmpty : (value: unknown) => value === undefined;
  return (message, out) => {
    const value = message[localName];
    if (!isAbsent(value)) out[name] = write(value);
    else if (orNull) out[name] = null;
  };
}

/** An absent value, the zero of a scalar, an empty list or map. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length === 0 : !value;
}

function valueWriter(field: DescField): WriteValue {
  const write = elementWriter(field);
  switch (field.fieldKind) {
    case "list":
      // A list field holds nothing but an array.
      return (value) => (value as readonly unknown[]).map(write);
    case "map":
      // A map field holds nothing but an object. fromEntries defines members, so that `__proto__` is one like any other.
      return (value) => Object.fromEntries(Object.entries(value as Members).map(([key, item]) => [key, write(item)]));
    default:
      return write;
  }
}

/** The writer of a single value, a list's item or a map's value. */
function elementWriter(field: DescField): WriteValue {
  if (field.enum) return enumWriter(field.enum);
  if (!field.message) return scalarWriter(field.scalar);
  const form = wellKnown(field.message);
  if (form) return form.write;
  const writeMembers = membersWriter(field.message);
  // A message field holds nothing but a message.
  return (value): JsonValue => writeMembers(value as Members, {});
}
