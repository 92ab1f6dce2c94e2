import { type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import type { ConnectRouterOptions } from "@connectrpc/connect";

/** Connect takes the coders too, which its public type leaves out. */
interface JsonOptions extends NonNullable<ConnectRouterOptions["jsonOptions"]> {
  readonly textDecoder: { decode(bytes?: Uint8Array): string };
  readonly textEncoder?: { encode(json?: string): Uint8Array<ArrayBuffer> };
}

/** Connect JSON as it comes by default, but bytes that are no UTF-8 are refused: otherwise they become U+FFFD. */
const jsonOptions: JsonOptions = { ignoreUnknownFields: true, textDecoder: new TextDecoder("utf-8", { fatal: true }) };

/** Their JSON has the same members over RPC as elsewhere: zeros are there, and numbers are numbers (contract/enterprise.md 3, 13 rows 24 and 30). */
const alike: ReadonlySet<string> = new Set(["dataexport.v1", "dataexport.v2", "observability.v2"]);

/** How a method's messages stand in JSON over Connect, and over gRPC's JSON. */
export function connectJson({ parent, output }: DescMethod): JsonOptions {
  if (!alike.has(parent.file.proto.package)) return jsonOptions;
  const longs = longFields(output);
  return { ...jsonOptions, alwaysEmitImplicit: true, ...(longs.length === 0 ? {} : { textEncoder: numberEncoder(longs) }) };
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

/** Names of the fields of 64 bits in a message and in those that it holds; Google's own have a JSON form of theirs. */
function longFields(desc: DescMessage, seen = new Set<DescMessage>()): string[] {
  if (seen.has(desc) || desc.typeName.startsWith("google.protobuf.")) return [];
  seen.add(desc);
  return desc.fields.flatMap((field) => {
    if (field.message) return longFields(field.message, seen);
    return field.fieldKind === "scalar" && long.has(field.scalar) ? [field.jsonName] : [];
  });
}
