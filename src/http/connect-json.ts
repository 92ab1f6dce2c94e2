import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import type { ConnectRouterOptions } from "@connectrpc/connect";

/** Fields that no descriptor knows are dropped: kept, each would be an object, many times the size of its bytes. */
export const binaryOptions = { readUnknownFields: false };

/** Connect takes the coders too, which its public type leaves out. */
interface JsonOptions extends NonNullable<ConnectRouterOptions["jsonOptions"]> {
  readonly textDecoder: { decode(bytes?: Uint8Array): string };
  readonly textEncoder?: { encode(json?: string): Uint8Array<ArrayBuffer> };
}

/** Connect JSON as it comes by default, but bytes that are no UTF-8 are refused: otherwise they become U+FFFD. */
const utf8 = new TextDecoder("utf-8", { fatal: true });
const jsonOptions: JsonOptions = { ignoreUnknownFields: true, textDecoder: utf8 };

/** Their JSON has the same members over RPC as elsewhere: zeros are there, and numbers are numbers (contract/enterprise.md 3, 13 rows 24 and 30). */
const alike: ReadonlySet<string> = new Set(["dataexport.v1", "dataexport.v2", "observability.v2"]);

/** How a method's messages stand in JSON over Connect, and over gRPC's JSON. */
export function connectJson({ parent, input, output }: DescMethod): JsonOptions {
  const spelt = namesOf(input, ({ localName, jsonName }) => (jsonName.includes("_") ? [[localName, jsonName] as const] : []));
  const read = spelt.length === 0 ? jsonOptions : { ...jsonOptions, textDecoder: spellingDecoder(new Map(spelt)) };
  if (!alike.has(parent.file.proto.package)) return read;
  const longs = namesOf(output, (field) => (field.fieldKind === "scalar" && long.has(field.scalar) ? [field.jsonName] : []));
  return { ...read, alwaysEmitImplicit: true, ...(longs.length === 0 ? {} : { textEncoder: numberEncoder(longs) }) };
}

/** Fields whose JSON name is not in camel case are read in both spellings all the same (contract/decisions.md 13). */
function spellingDecoder(names: ReadonlyMap<string, string>): JsonOptions["textDecoder"] {
  const members = new RegExp(`"(${[...names.keys()].join("|")})"(?=\\s*:)`, "g");
  return { decode: (bytes) => utf8.decode(bytes).replace(members, (_, name: string) => `"${names.get(name)}"`) };
}

/**
 * Protobuf writes numbers of 64 bits as text. A member's name with its quotes and colon stands nowhere else in compact
 * JSON: the quotes of what is within a text have backslashes before them.
 */
function numberEncoder(names: readonly string[]): NonNullable<JsonOptions["textEncoder"]> {
  const quoted = new RegExp(`("(?:${names.join("|")})":)"(-?\\d+)"`, "g");
  const encoder = new TextEncoder();
  return { encode: (json = "") => encoder.encode(json.replace(quoted, "$1$2")) };
}

const long: ReadonlySet<ScalarType> = new Set([
  ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  ...[ScalarType.UINT64, ScalarType.FIXED64],
]);

/** What is found of the fields of a message and of those that it holds; Google's own have a JSON form of theirs. */
function namesOf<T>(desc: DescMessage, find: (field: DescField) => readonly T[], seen = new Set<DescMessage>()): T[] {
  if (seen.has(desc) || desc.typeName.startsWith("google.protobuf.")) return [];
  seen.add(desc);
  return desc.fields.flatMap((field) => [...find(field), ...(field.message ? namesOf(field.message, find, seen) : [])]);
}
