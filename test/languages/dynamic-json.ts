/**
 * Messages in the form of dynamic loading: with the names of the .proto files, and google.protobuf.Struct as
 * it is on the wire.
 */
interface Struct {
  readonly fields?: Readonly<Record<string, Value>>;
}

type Value =
  | { readonly boolValue: boolean }
  | { readonly numberValue: number }
  | { readonly stringValue: string }
  | { readonly structValue: Struct }
  | { readonly listValue: { readonly values?: readonly Value[] } }
  | { readonly nullValue: "NULL_VALUE" };

type Change = (name: string, value: never) => readonly [name: string, value: unknown] | undefined;

/** Converts a message from protobuf's JSON form; its only Struct is the `input` of an approval. */
export const toDynamic = (message: object): object =>
  members(message, snake, (name, value) => (name === "input" ? [name, struct(value)] : undefined)) as object;

/** The reverse conversion. */
export const fromDynamic = (message: unknown): unknown =>
  members(message, camel, (name, value) => {
    if (name === "confirm_input_schema" || name === "params") return [camel(name), ofStruct(value)];
    return name === "result" ? [name, ofValue(value)] : undefined;
  });

/** Renames the members of a message; `change` converts members that are not messages. */
function members(message: unknown, rename: (name: string) => string, change: Change): unknown {
  if (Array.isArray(message)) return message.map((item) => members(item, rename, change));
  if (typeof message !== "object" || message === null) return message;
  const entries = Object.entries(message);
  return Object.fromEntries(
    entries.map(
      ([name, value]) => change(name, value as never) ?? [rename(name), members(value, rename, change)],
    ),
  );
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const struct = (input: Readonly<Record<string, boolean>>): Struct => ({
  fields: Object.fromEntries(Object.entries(input).map(([name, boolValue]) => [name, { boolValue }])),
});

const ofStruct = ({ fields = {} }: Struct): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, ofValue(value)]));

function ofValue(value: Value): unknown {
  if ("structValue" in value) return ofStruct(value.structValue);
  if ("listValue" in value) return (value.listValue.values ?? []).map(ofValue);
  if ("nullValue" in value) return null;
  return Object.values(value)[0];
}
