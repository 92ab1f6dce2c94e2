import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";

const bytes = (...octets: readonly number[]): Buffer => Buffer.from(octets);
const depths = [50, 99, 100, 101, 1_000, 20_000, 100_000] as const;

const nestings = depths.flatMap((depth) => [
  "[".repeat(depth) + "]".repeat(depth),
  `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
  "[".repeat(depth),
]);

/** Values that some parsers confuse with others, or crash on; not all of them are JSON. */
const values: readonly (string | Buffer)[] = [
  ..."1e999 -1e999 1e-999 -0 12345678901234567890 -99999999999999999999 9007199254740993 9e99999 1.5 01 +1 .5 1. 0x10".split(
    " ",
  ),
  ..."NaN Infinity -Infinity undefined nul True 'single' /*comment*/1 [1,] {,} {a:1} [1 \u00a01".split(" "),
  `${"9".repeat(10_000)}`,
  `1e${"9".repeat(500)}`,
  ...[
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    '"\\x41"',
    '"\\u00"',
    '"\n"',
    '"\u2028"',
    '"unfinished',
    '"\\"',
  ],
  ...[
    '{"__proto__":{"task_id":"x"}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"toString":null,"valueOf":1}',
    '{"length":1e9}',
  ],
  Buffer.concat([bytes(0x22), bytes(0xed, 0xa0, 0x80), bytes(0x22)]),
  Buffer.concat([bytes(0x22), bytes(0xff, 0xfe), bytes(0x22)]),
  Buffer.concat([bytes(0x22), bytes(0xc0, 0x80, 0xf8, 0x88), bytes(0x22)]),
  Buffer.concat([bytes(0x22), bytes(0xe2, 0x82)]),
  `"${"x".repeat(100_000)}"`,
  `[${"0,".repeat(20_000)}0]`,
  `{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":${i}`)}}`,
];

/** Bodies that are completely wrong. */
const bodies: readonly (string | Buffer)[] = [
  ...[
    "",
    " \r\n\t",
    "\ufeff",
    "\ufeff{}",
    "\ufeff\ufeff{}",
    "null",
    "true",
    "5",
    '"x"',
    "[]",
    "[{}]",
    "{}{}",
    "{} x",
    "{}\0",
    "\0",
    "{",
    "}",
    '{"',
  ],
  ...[
    '{"__proto__":null}',
    '{"a":1,}',
    "{'a':1}",
    "// nothing\n{}",
    "a=b&c=d",
    "<xml/>",
    "--x\r\n\r\n{}\r\n--x--",
  ],
  Buffer.from('{"a":1}', "utf16le"),
  Buffer.concat([bytes(0xff, 0xfe), Buffer.from("{}", "utf16le")]),
  bytes(0x1f, 0x8b, 0x08, 0x00),
  ...nestings.flatMap((text) => [text, `{"a":${text}`]),
];

/** Marks the position of a member's value. */
const mark = '"@"';

const splice = (json: JsonObject, name: string, value: string | Buffer): Buffer => {
  const [before = "", after = ""] = JSON.stringify({ ...json, [name]: "@" }).split(mark);
  return Buffer.concat([Buffer.from(before), Buffer.from(value), Buffer.from(after)]);
};

/** JSON of a request that breaks a careless parser. */
export function hostileJson(sound: fc.Arbitrary<JsonObject>, names: readonly string[]): fc.Arbitrary<Buffer> {
  const name = fc.constantFrom(...names, "__proto__", "no_such_member");
  const texts = sound.map((json) => JSON.stringify(json));
  const spliced = (from: readonly (string | Buffer)[]) =>
    fc.tuple(sound, name, fc.constantFrom(...from)).map((parts) => splice(...parts));
  return fc.oneof(
    { weight: 5, arbitrary: spliced(values) },
    { weight: 5, arbitrary: fc.tuple(texts, fc.nat(40), fc.constantFrom(...values)).map(replaced) },
    { weight: 1, arbitrary: spliced(nestings) },
    { weight: 3, arbitrary: fc.constantFrom(...bodies).map((body) => Buffer.from(body as string)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(texts, fc.nat(400))
        .map(([text, at]) => Buffer.from(text.slice(0, at % text.length))),
    },
    { weight: 2, arbitrary: fc.tuple(texts, fc.nat(400), fc.uint8Array({ maxLength: 4 })).map(overwritten) },
    {
      weight: 2,
      arbitrary: fc.tuple(sound, name, fc.json()).map(([json, member, text]) => splice(json, member, text)),
    },
    { weight: 1, arbitrary: fc.tuple(texts, texts).map(doubled) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((any) => Buffer.from(any)) },
  );
}

/** The nth value in the text, modulo their number, is replaced. */
function replaced([text, nth, value]: readonly [string, number, string | Buffer]): Buffer {
  const places = [...text.matchAll(/(?<=:)("[^"\\]*"|\d+|true|false)/g)];
  const { 0: old = "", index = text.length } = places[nth % Math.max(1, places.length)] ?? {};
  return Buffer.concat([
    Buffer.from(text.slice(0, index)),
    Buffer.from(value as string),
    Buffer.from(text.slice(index + old.length)),
  ]);
}

function overwritten([text, at, patch]: readonly [string, number, Uint8Array]): Buffer {
  const body = Buffer.from(text);
  body.set(patch.subarray(0, body.length), at % Math.max(1, body.length - patch.length));
  return body;
}

/** Every member twice. */
const doubled = ([one, other]: readonly [string, string]): Buffer =>
  Buffer.from(one.length > 2 && other.length > 2 ? `${one.slice(0, -1)},${other.slice(1)}` : one);
