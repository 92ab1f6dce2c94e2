import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";

const odd = [
  ...[
    "",
    "&",
    "&&=&",
    "=",
    "=x",
    "?",
    "%",
    "%zz=1",
    "a=%",
    "a=%ff",
    "a=%ED%A0%80",
    "a=%00",
    "%00=a",
    "+",
    "a+b=c+d",
    "a;b=c",
    "%23",
  ],
  ...[
    "__proto__=1",
    "__proto__[a]=1",
    "constructor=1",
    "constructor.prototype=1",
    "toString=1",
    "hasOwnProperty=1",
    "length=1e9",
  ],
  ...[
    "a[]=1&a[]=2",
    "a[b][c]=1",
    "a.b=1",
    "a=1&a=2&a=3",
    "a=".repeat(50),
    `a=${"x".repeat(6_000)}`,
    "a&".repeat(1_500),
  ],
];

const scalars = [
  "",
  "0",
  "-1",
  "1.5",
  "1e3",
  "99999999999999999999",
  "0x10",
  "NaN",
  "true",
  "TRUE",
  "null",
  "[]",
  "{}",
  "x",
  "%EF%BB%BF",
  "%F0%9F%98%80",
  "%00",
  "%ED%A0%80",
];

const anyQueries = fc.string({ unit: fc.constantFrom(..."ab0%&=+;[]._~!'$,/?@"), maxLength: 40 });

/** A query of plain values; larger values are written as JSON, which no field accepts. */
export const queryOf = (json: JsonObject): string =>
  new URLSearchParams(
    Object.entries(json).map(([name, value]): [string, string] => [
      name,
      typeof value === "object" ? JSON.stringify(value) : String(value),
    ]),
  ).toString();

/** Queries that are hard to read: odd values of real names, real ones twice, and queries without names. */
export function hostileQueries(
  sound: fc.Arbitrary<JsonObject>,
  names: readonly string[],
): fc.Arbitrary<string> {
  const queries = sound.map(queryOf);
  const name = fc.constantFrom(...names, "no_such");
  return fc.oneof(
    fc.tuple(queries, fc.constantFrom(...odd)).map((parts) => parts.join("&")),
    fc
      .tuple(queries, name, fc.constantFrom(...scalars))
      .map(([query, member, value]) => `${member}=${value}&${query}`),
    fc
      .tuple(queries, name, fc.constantFrom(...scalars))
      .map(([query, member, value]) => `${query}&${member}=${value}`),
    queries.map((query) => `${query}&${query}`),
    fc.tuple(queries, anyQueries).map((parts) => parts.join("&")),
  );
}
