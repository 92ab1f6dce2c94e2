import { z } from "zod";
import type { JsonObject, JsonValue, OutputSchema } from "../../../packages/client/src/index.ts";

/** A schema, a value of its form on the wire, and what zod makes of it when it differs. */
type Row = readonly [name: string, schema: OutputSchema<unknown>, value: JsonObject, read?: unknown];

const [text, number] = [z.string(), z.number()];
/** One member; the value that zod reads when it differs, or nothing for an absent member. */
const x = (
  member: z.ZodType,
  value: JsonValue,
  ...read: readonly unknown[]
): [OutputSchema<unknown>, JsonObject, unknown] => [
  z.object({ x: member }),
  { x: value },
  read.length === 0 ? { x: value } : read[0] === undefined ? {} : { x: read[0] },
];

interface Node {
  readonly name: string;
  readonly children: readonly Node[];
}
const node: z.ZodType<Node> = z.object({
  name: text,
  get children() {
    return z.array(node);
  },
});
const tree = z.object({
  value: number,
  get next() {
    return tree.optional();
  },
});

export const zodRows: readonly Row[] = [
  ["a text and a number", z.object({ name: text, age: number }), { name: "Ann", age: 3 }],
  ["a nested object", z.object({ a: z.object({ b: z.object({ c: text }) }) }), { a: { b: { c: "x" } } }],
  ["no members", z.object({}), {}],
  ["lengths of a text", ...x(text.min(2).max(5), "abc")],
  ["a pattern", ...x(text.regex(/^[a-z]+$/), "abc")],
  ["two patterns", ...x(text.regex(/a/).regex(/b/), "ab")],
  ["an address of mail", ...x(z.email(), "ann@example.com")],
  ["an address", ...x(z.url(), "https://example.com/")],
  ["a UUID", ...x(z.uuid(), "7f3b1c9e-2a4d-4f6b-8c1d-2e3f4a5b6c7d")],
  ["a date as text", ...x(z.iso.date(), "2026-11-28")],
  ["a time as text", ...x(z.iso.datetime(), "2026-11-28T10:00:00Z")],
  ["an integer", ...x(z.int(), 4)],
  ["bounds of a number", ...x(number.gt(0).lte(10).multipleOf(0.5), 2.5)],
  ["a truth value", ...x(z.boolean(), true)],
  ["null", ...x(z.null(), null)],
  ["a nullable text", ...x(text.nullable(), null)],
  ["an optional text that is absent", ...x(text.optional(), null, undefined)],
  ["an optional text that is present", ...x(text.optional(), "a")],
  ["an optional nullable text", ...x(text.nullish(), null)],
  ["a default", ...x(text.default("none"), null, "none")],
  ["a caught value", ...x(z.array(number).catch([1]), [2])],
  ["an optional object", ...x(z.object({ a: number }).optional(), null, undefined)],
  [
    "an optional object within an array",
    ...x(z.array(z.object({ a: number.optional() })), [{ a: null }], [{}]),
  ],
  ["an enumeration", ...x(z.enum(["red", "blue"]), "blue")],
  ["an optional enumeration", ...x(z.enum(["red", "blue"]).optional(), null, undefined)],
  ["one literal", ...x(z.literal("on"), "on")],
  ["literals of several types", ...x(z.literal([1, "a", null, true]), "a")],
  ["an array with lengths", ...x(z.array(text).min(1).max(3), ["a"])],
  ["arrays in arrays", ...x(z.array(z.array(z.int())), [[1], []])],
  ["a union of scalars", ...x(z.union([text, number]), 2)],
  [
    "a union of objects",
    ...x(z.union([z.object({ a: text }), z.object({ b: text.optional() })]), { b: null }, {}),
  ],
  [
    "a tagged union",
    ...x(
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("circle"), radius: number }),
        z.object({ kind: z.literal("square"), side: number.optional() }),
      ]),
      { kind: "square", side: null },
      { kind: "square" },
    ),
  ],
  ["an intersection", ...x(z.intersection(z.object({ a: text }), z.object({ b: text })), { a: "1", b: "2" })],
  ["a record of known names", ...x(z.record(z.enum(["a", "b"]), number), { a: 1, b: 2 })],
  ["a part of known names", ...x(z.partialRecord(z.enum(["a", "b"]), number), { a: 1, b: null }, { a: 1 })],
  [
    "strict and open objects",
    z.object({ a: z.strictObject({ n: number }), b: z.looseObject({ n: number }) }),
    { a: { n: 1 }, b: { n: 2 } },
  ],
  [
    "a value that is changed",
    ...x(
      text.transform((value) => value.length),
      "abc",
      3,
    ),
  ],
  [
    "a text that becomes a date",
    ...x(
      z.codec(z.iso.datetime(), z.date(), { decode: (at) => new Date(at), encode: (at) => at.toISOString() }),
      "2026-11-28T10:00:00Z",
      new Date("2026-11-28T10:00:00Z"),
    ),
  ],
  [
    "annotations, and members with their names",
    z
      .object({
        title: text.meta({ title: "T", description: "D", examples: ["a"], deprecated: true }),
        default: z.int().describe("N").min(1),
      })
      .meta({ id: "Named" }),
    { title: "a", default: 1 },
  ],
  ["a recursive member", ...x(node, { name: "a", children: [{ name: "b", children: [] }] })],
  [
    "a recursive object",
    tree,
    { value: 1, next: { value: 2, next: null } },
    { value: 1, next: { value: 2 } },
  ],
];

/** Schemas that cannot be sent, with the error. */
export const zodRefusals: readonly (readonly [
  name: string,
  schema: OutputSchema<unknown>,
  message: string,
])[] = [
  ["no object", z.array(text), "output: must be an object; put another value into a member of one"],
  ["a date", z.object({ a: z.object({ at: z.date() }) }), "output.a.at: must have a type"],
  ["anything", z.object({ list: z.array(z.any()) }), "output.list.items: must have a type"],
  [
    "a pair",
    z.object({ pair: z.tuple([text, number]) }),
    'output.pair: the keyword "prefixItems" cannot be sent',
  ],
  [
    "a record",
    z.object({ by: z.record(text, number) }),
    "output.by: an object with any names cannot be sent: use an array of objects with name and value",
  ],
  ["a set in a union", z.object({ x: z.union([text, z.set(text)]) }), "output.x.anyOf.1: must have a type"],
  [
    "six levels",
    z.object({ a: z.array(z.array(z.array(z.array(z.object({ b: text }))))) }),
    "output.a.items.items.items.items: objects and arrays can be nested at most 5 levels deep",
  ],
];
