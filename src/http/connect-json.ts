import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import type { ConnectRouterOptions } from "@connectrpc/connect";

/** Drops unknown fields: kept, each would be an object, many times the size of its bytes. */
export const binaryOptions = { readUnknownFields: false };

/** Connect also accepts these coders, which its public type omits. */
interface JsonOptions extends NonNullable<ConnectRouterOptions["jsonOptions"]> {
  readonly textDecoder: { decode(bytes?: Uint8Array): string };
  readonly textEncoder?: { encode(json?: string): Uint8Array<ArrayBuffer> };
}

/** Connect's default JSON, except that invalid UTF-8 is refused: by default it becomes U+FFFD. */
const utf8 = new TextDecoder("utf-8", { fatal: true });
const jsonOptions: JsonOptions = { ignoreUnknownFields: true, textDecoder: utf8 };

/**
 * Packages whose JSON over RPC equals their JSON on other wires: it includes zeros and writes 64-bit numbers
 * as numbers (spec/enterprise.md 3, 13 rows 24 and 30).
 */
const plainJsonPackages: ReadonlySet<string> = new Set([
  "dataexport.v1",
  "dataexport.v2",
  "observability.v2",
]);

const known = new WeakMap<DescMethod, JsonOptions>();

export function connectJsonOptions(method: DescMethod): JsonOptions {
  const options = known.get(method) ?? readOptions(method);
  known.set(method, options);
  return options;
}

function readOptions({ parent, input, output }: DescMethod): JsonOptions {
  const respelled = collectFields(input, ({ localName, jsonName }) =>
    jsonName.includes("_") ? [[localName, jsonName] as const] : [],
  );
  const read =
    respelled.length === 0
      ? jsonOptions
      : { ...jsonOptions, textDecoder: spellingDecoder(new Map(respelled)) };
  if (!plainJsonPackages.has(parent.file.proto.package)) return read;
  const longs = collectFields(output, (field) =>
    field.fieldKind === "scalar" && long.has(field.scalar) ? [field.jsonName] : [],
  );
  return {
    ...read,
    alwaysEmitImplicit: true,
    ...(longs.length === 0 ? {} : { textEncoder: numberEncoder(longs) }),
  };
}

/** Reads fields whose JSON name is not in camel case in both spellings (spec/decisions.md 13). */
function spellingDecoder(names: ReadonlyMap<string, string>): JsonOptions["textDecoder"] {
  const members = new RegExp(`"(${[...names.keys()].join("|")})"(?=\\s*:)`, "g");
  return {
    decode: (bytes) => utf8.decode(bytes).replace(members, (_, name: string) => `"${names.get(name)}"`),
  };
}

/**
 * Writes 64-bit numbers as numbers; protobuf writes them as text. In compact JSON a member's name with its
 * quotes and colon occurs only as a member: quotes inside a text have a backslash before them.
 */
function numberEncoder(names: readonly string[]): NonNullable<JsonOptions["textEncoder"]> {
  const quoted = new RegExp(`("(?:${names.join("|")})":)"(-?\\d+)"`, "g");
  const encoder = new TextEncoder();
  return { encode: (json = "") => encoder.encode(json.replace(quoted, "$1$2")) };
}

const long: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

/**
 * Collects values from the fields of a message and of its nested messages. Skips Google's types: their JSON
 * form is not their fields.
 */
function collectFields<T>(
  desc: DescMessage,
  find: (field: DescField) => readonly T[],
  seen = new Set<DescMessage>(),
): T[] {
  if (seen.has(desc) || desc.typeName.startsWith("google.protobuf.")) return [];
  seen.add(desc);
  return desc.fields.flatMap((field) => [
    ...find(field),
    ...(field.message ? collectFields(field.message, find, seen) : []),
  ]);
}
