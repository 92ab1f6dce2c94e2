import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { spellings } from "./wire.ts";

/** Converts the parameters of a query into the members of a request. */
export type NestQuery = (query: JsonObject) => JsonObject;

/**
 * Creates the converter of a message type: for its map `metadata` the parameter `metadata[ticket]` is a
 * member of an object.
 */
export function queryNester({ fields }: DescMessage): NestQuery {
  const maps = new Set(fields.flatMap((field) => (field.fieldKind === "map" ? [...spellings(field)] : [])));
  if (maps.size === 0) return (query) => query;
  return (query) => {
    // Entries, so that `__proto__` is an ordinary name.
    const plain: [string, JsonValue][] = [];
    const nested = new Map<string, [string, JsonValue][]>();
    for (const [name, value] of Object.entries(query)) {
      const [, map = "", member] = /^(\w+)\[([^\]]*)\]$/.exec(name) ?? [];
      if (member === undefined || !maps.has(map)) plain.push([name, value ?? null]);
      else if (!nested.get(map)?.push([member, value ?? null])) nested.set(map, [[member, value ?? null]]);
    }
    return Object.fromEntries([
      ...plain,
      ...[...nested].map(([name, members]) => [name, Object.fromEntries(members)] as const),
    ]);
  };
}
