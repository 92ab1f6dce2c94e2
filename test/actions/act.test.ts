import { assert, constantFrom, jsonValue, object, property, string } from "fast-check";
import { expect, test } from "vitest";
import { rowsOf } from "../../src/core/actions/act.ts";
import { isWhole } from "../../src/core/actions/is-whole.ts";
import { inputSchema, isKind, kinds, variantsOf } from "../../src/core/actions/kind.ts";
import { visible } from "../../src/core/actions/visible.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";

const hiddenLetters = [
  "\u0000",
  "\u0007",
  "\r",
  "\u001b",
  "\u007f",
  "\u009b",
  "\u00ad",
  "\u061c",
  "\u200b",
  "\u200d",
  "\u200e",
  "\u202e",
];
const moreHidden = [
  "\u2028",
  "\u2060",
  "\u2066",
  "\u3164",
  "\ufe0f",
  "\ufeff",
  "\ud800",
  "\ufff9",
  "\u{e0001}",
  "\u{e0041}",
];

test("every value has a row, in order, with the path at which it stands", () => {
  const params = {
    to: ["ann@example.com", "ben@example.com"],
    count: 2,
    urgent: false,
    from: null,
    cc: [],
    more: { headers: {}, "x y": { "": "" }, "a.b": [[1]] },
    text: "One\nTwo",
  };
  expect(rowsOf(params)).toEqual([
    { path: "to[0]", value: "ann@example.com" },
    { path: "to[1]", value: "ben@example.com" },
    { path: "count", value: "2" },
    { path: "urgent", value: "false" },
    { path: "from", value: "null" },
    { path: "cc", value: "[]" },
    { path: "more.headers", value: "{}" },
    { path: 'more["x y"][""]', value: '""' },
    { path: 'more["a.b"][0][0]', value: "1" },
    { path: "text", value: "One\nTwo" },
  ]);
  expect(rowsOf(undefined)).toEqual([]);
});

test("no two values have the same path, and none is left out", () => {
  const leaves = (value: Json): number => {
    const inside = typeof value === "object" && value !== null ? Object.values(value) : [];
    return inside.length === 0 ? 1 : inside.reduce((sum: number, child) => sum + leaves(child), 0);
  };
  const params = object({ maxDepth: 4, values: [jsonValue(), string()] }) as never;
  assert(
    property(params, (given: JsonObject) => {
      const rows = rowsOf(given);
      expect(rows.length).toBe(Object.keys(given).length === 0 ? 0 : leaves(given));
      expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
    }),
  );
});

test("what is hidden or moves other characters is visible", () => {
  for (const letter of [...hiddenLetters, ...moreHidden]) {
    const code = letter.codePointAt(0)?.toString(16).toUpperCase();
    expect(visible(`a${letter}b`)).toBe(`a\\u{${code}}b`);
  }
  expect(visible("\tOne\nTwo  three äöü 漢字 العربية")).toBe("\tOne\nTwo  three äöü 漢字 العربية");
});

test("emoji sequences stay whole", () => {
  const england = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
  for (const emoji of ["❤️", "☎︎", "👩🏽‍🚀", "👨‍👩‍👧‍👦", "❤️‍🔥", "🧑‍🤝‍🧑", "🇩🇪", "1️⃣", "🏳️‍🌈", england])
    expect(visible(`a${emoji}b`)).toBe(`a${emoji}b`);
  expect(visible("🏴\u{e0061}\u{e0062}\u{e007f}")).toBe("🏴\\u{E0061}\\u{E0062}\\u{E007F}");
  expect(visible("👩\u200d")).toBe("👩\\u{200D}");
});

test("many empty lines and blanks are counted", () => {
  expect(visible(`a${"\n".repeat(27)}b`)).toBe("a\n(26 empty lines)\nb");
  expect(visible(`a${"\n \t".repeat(26)}\nb`)).toBe("a\n(26 empty lines)\nb");
  expect(visible(`${"\r\n".repeat(5)}b`)).toBe("(5 empty lines)\nb");
  expect(visible("a\n\n\n\nb")).toBe("a\n\n\n\nb");
  expect(visible(`a${" ".repeat(5000)}b`)).toBe("a(5000 blanks)b");
  expect(visible("\n\n\n\n\nb", { emptyLines: (count) => `(${count} leere Zeilen)`, blanks: String })).toBe(
    "(5 leere Zeilen)\nb",
  );
});

test("a text shows no hidden character, and is read in a time that grows with its length", () => {
  const unit = constantFrom(...hiddenLetters, ...moreHidden, "\n", "a", "👩", "🏴");
  assert(
    property(string({ unit }), (text) => {
      expect(visible(text)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\u200b]/u);
    }),
  );
  for (const part of ["\n", " ", " \n", "\u200d", "👩\u200d", "🏴", "\u{e0061}"])
    visible(part.repeat(100_000));
});

const shown = (description: string, params?: JsonObject, kind = "connectorAction", variant = ""): boolean =>
  isWhole({ kind, description, params, schema: isKind(kind) ? inputSchema(kind, variant) : undefined });

test.each<[string, JsonObject | undefined]>([
  ["Run: make clean", { command: "make clean" }],
  ["Run this command in the sandbox: ls -la", { command: "ls -la" }],
  ["Publish “demo” now.", { name: "demo" }],
  ["Delete `a b.txt`", { path: { file: "a b.txt" } }],
  ['Write to "ann@example.com" with the subject "Hello"', { to: "ann@example.com", subject: "Hello" }],
  ["Delete event id “7” with notify “false”", { event_id: 7, notify: false }],
  ["Go on", undefined],
  ["Go on", {}],
])("the description shows the whole action: %s", (description, params) => {
  expect(shown(description, params)).toBe(true);
});

test.each<[string, string, JsonObject]>([
  ["a value is missing", "Send “Hello”", { text: "Hello", to: "eve@example.com" }],
  ["a text is part of another one", "Delete /home/tmp", { path: "/home" }],
  ["a text is the end of another one", "Run: echo rm -rf /", { command: "rm -rf /" }],
  ["a text is quoted in another one", "Run: echo “rm -rf /”", { command: "rm -rf /" }],
  ["a quotation mark ends a text early", "Delete “a” and “b”", { name: "a” and “b" }],
  ["a number is part of another one", "Pay “100”", { amount: 1 }],
  ["a number alone has no member", "Pay “100”", { amount: 100 }],
  ["a truth value alone has no member", "Delete all: true", { dry_run: true }],
  ["two values have one place", "Copy “a”", { from: "a", to: "a" }],
  ["the values are exchanged", "Copy from “b” to “a”", { from: "a", to: "b" }],
  ["a name is the end of a word", "Move auto “a” and of “b”", { to: "a", of: "b" }],
  ["an item of a list has no name", "Write to “a” and “b”", { to: ["a", "b"] }],
  ["an empty text is not seen", "Delete “”", { path: "" }],
  ["an empty list is not seen", "Delete all", { except: [] }],
  ["a hidden character", "Run: ls \u202e", { command: "ls \u202e" }],
  ["two lines", "Run: a\nb", { command: "a\nb" }],
  ["more than 300 characters", `Run: ${"a".repeat(300)}`, { command: "a".repeat(300) }],
])("the description does not show the whole action: %s", (_, description, params) => {
  expect(shown(description, params)).toBe(false);
});

test("an action with more to decide, of secrets, sign-in, browser or spending is never whole", () => {
  const variants = Object.keys(kinds).flatMap((kind) =>
    isKind(kind) ? ["", ...variantsOf(kind)].map((variant) => [kind, variant] as const) : [],
  );
  const whole = variants.filter(([kind, variant]) => shown("Go on", {}, kind, variant)).map(([kind]) => kind);
  expect(whole).toEqual([
    ...[
      "deployAction",
      "terminalExecute",
      "googleCalendarCreate",
      "googleCalendarUpdate",
      "googleCalendarDelete",
    ],
    ...[
      "outlookCalendarCreate",
      "outlookCalendarUpdate",
      "outlookCalendarDelete",
      "connectorAction",
      "scheduleCreate",
      "fetchUrl",
      "agentToolAction",
    ],
    ...["mapreduceAction", "shopifyAction", "instagramCreateResult"],
  ]);
  expect(shown("Go on", {}, "newKind")).toBe(false);
});
