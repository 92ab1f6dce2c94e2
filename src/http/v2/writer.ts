import type {
  DescField,
  DescMessage,
  DescOneof,
  JsonObject,
  JsonValue,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Members } from "./message-reader.ts";
import { enumWriter, scalarWriter, type WriteValue } from "./scalars.ts";
import { wellKnownForm } from "./well-known.ts";
import { wireOptions } from "./wire.ts";

/**
 * Adds a message's members to the JSON object `out`. Plain objects and one
 * JSON.stringify are as fast as building text, with less code.
 */
export type WriteMembers = (message: Members, out: JsonObject) => JsonObject;

/** Adds one member, unless it is omitted. */
type WriteMember = (message: Members, out: JsonObject) => void;

const compiled = new WeakMap<DescMessage, WriteMembers>();

/** The writer of a message type, compiled at its first use and cached. */
function membersWriter(desc: DescMessage): WriteMembers {
  const known = compiled.get(desc);
  if (known) return known;
  const writers: WriteMember[] = [];
  const write = sequence(writers);
  // Store the writer before its fields are compiled: a type may contain itself.
  compiled.set(desc, write);
  for (const member of desc.members) writers.push(memberWriter(member));
  return write;
}

/** The writer of a message type without the fields of these names. */
function membersWriterExcept(desc: DescMessage, names: ReadonlySet<string>): WriteMembers {
  return sequence(desc.members.filter(({ name }) => !names.has(name)).map(memberWriter));
}

const memberWriter = (member: DescField | DescOneof): WriteMember =>
  member.kind === "oneof" ? oneofWriter(member) : fieldWriter(member);

function sequence(writers: readonly WriteMember[]): WriteMembers {
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
    const entry = cases.get(group.case);
    if (entry) out[entry[0]] = entry[1](group.value);
  };
}

/** Fields with implicit presence are always written; optional and message fields only when present. */
function fieldWriter(field: DescField): WriteMember {
  const { name, localName } = field;
  const { orNull, omitEmpty } = wireOptions(field);
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
      // The value of a list field is always an array.
      return (value) => (value as readonly unknown[]).map(write);
    case "map":
      // The value of a map field is always an object. fromEntries defines members, so `__proto__` is an
      // ordinary member.
      return (value) =>
        Object.fromEntries(Object.entries(value as Members).map(([key, item]) => [key, write(item)]));
    default:
      return write;
  }
}

/** The writer of a single value, a list's item or a map's value. */
function elementWriter(field: DescField): WriteValue {
  if (field.enum) return enumWriter(field.enum);
  if (!field.message) return scalarWriter(field.scalar);
  const form = wellKnownForm(field.message);
  if (form) return form.write;
  const writeMembers = membersWriter(field.message);
  // The value of a message field is always a message.
  return (value): JsonValue => writeMembers(value as Members, {});
}

/** Writes an answer in the envelope of spec/api.md 1, with the warnings of the request if there are any. */
export type Writer<Desc extends DescMessage> = (
  message: MessageShape<Desc>,
  requestId: string,
  warnings?: readonly string[],
) => string;

/** Writes a message without the envelope: an event of a stream, a part of a webhook's body. */
export type BareWriter<Desc extends DescMessage> = (message: MessageShape<Desc>) => string;

/** Makes the JSON object of a message, without the envelope. */
export type ObjectWriter<Desc extends DescMessage> = (message: MessageShape<Desc>) => JsonObject;

/** Members of every answer, which no message has (spec/api.md 1). */
export const envelope: ReadonlySet<string> = new Set(["ok", "request_id", "warnings"]);
/** The most texts in `warnings` (spec/decisions.md 51). */
const warningsMax = 10;

/**
 * Compiles the writer of an operation's answer. `ok` and `request_id` belong to the
 * envelope: fields with these names, which team.v2 answers have for Connect, are not
 * written twice. Texts of a field `warnings` follow the warnings of the request.
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileWriter<Desc extends DescMessage>(desc: Desc): Writer<Desc> {
  const write = membersWriterExcept(desc, envelope);
  const warns = desc.field["warnings"] !== undefined;
  return (message, requestId, warnings = []) => {
    const members = membersOf(message);
    // The schema declares the field as a list of texts.
    const texts = warns
      ? [...warnings, ...(members["warnings"] as readonly string[])].slice(0, warningsMax)
      : [...warnings];
    const head = { ok: true, request_id: requestId, ...(texts.length === 0 ? {} : { warnings: texts }) };
    return JSON.stringify(write(members, head));
  };
}

/**
 * Compiles the writer of a message without the envelope.
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileBareWriter<Desc extends DescMessage>(desc: Desc): BareWriter<Desc> {
  const write = compileObjectWriter(desc);
  return (message) => JSON.stringify(write(message));
}

/** The same, for a reader in this process. An answer has no members of the envelope. */
export function compileObjectWriter<Desc extends DescMessage>(
  desc: Desc,
  { isAnswer = false } = {},
): ObjectWriter<Desc> {
  const write = isAnswer ? membersWriterExcept(desc, envelope) : membersWriter(desc);
  return (message) => write(membersOf(message), {});
}

// A message has the members that its descriptor names.
const membersOf = (message: unknown): Members => message as Members;
