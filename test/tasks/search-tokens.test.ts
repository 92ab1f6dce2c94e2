import fc from "fast-check";
import { expect, test } from "vitest";
import { tokensOf, wordsOf } from "../../src/core/tasks/search-tokens.ts";

test.each([
  ["Latin with accents, in any form", "Ärger E\u0301te\u0301 naïve", ["ärger", "été", "naïve"]],
  ["German", "Straße STRASSE ẞ", ["straße", "strasse", "ß"]],
  ["Turkish", "İzmir ISPARTA ılık", ["i\u0307zmir", "isparta", "ılık"]],
  ["Greek, without a sigma of its own at the end", "ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]],
  ["Japanese", "東京都へ コーヒー", ["東京", "京都", "都へ", "へ", "コー", "ーヒ", "ヒー", "ー"]],
  ["Japanese of half width", "ｺｰﾋｰ", ["コー", "ーヒ", "ヒー", "ー"]],
  ["Korean", "한국어 값", ["한국", "국어", "어", "값"]],
  ["Thai", "ไทย", ["ไท", "ทย", "ย"]],
  ["Arabic and Hindi", "كتاب हिन्दी", ["كتاب", "हिन्दी"]],
  ["letters next to others", "iPhone15東京", ["iphone15", "東京", "京"]],
  ["ligatures and digits in circles", "ﬁne ①", ["fine", "1"]],
  ["emoji", "☀️ 👨‍👩‍👧 go", ["go"]],
  ["characters that are not shown", "co\u00adoperate a\u200db", ["cooperate", "ab"]],
  [
    "operators, NUL and lone surrogates",
    "a\u0000b \"OR* NEAR( :& | ! <-> ' \ud800c",
    ["a", "b", "or", "near", "c"],
  ],
  ["nothing but signs", "?! … — _", []],
])("tokens of %s", (_what, text, tokens) => {
  expect([...tokensOf(text)]).toEqual(tokens);
});

test("a query has the tokens of a text: words, the last one as a beginning, and pairs; a single letter is a beginning", () => {
  const exact = (text: string) => ({ text, isPrefix: false });
  expect(wordsOf("Price 東京都 li")).toEqual([
    [exact("price")],
    [exact("東京"), exact("京都")],
    [{ text: "li", isPrefix: true }],
  ]);
  expect(wordsOf("東 list")).toEqual([[{ text: "東", isPrefix: true }], [{ text: "list", isPrefix: true }]]);
  expect(wordsOf("?! \u0000")).toEqual([]);
});

const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string());

/** Whether a text has every word of a query. */
const has = (text: string, query: string) => {
  const tokens = [...tokensOf(text)];
  return wordsOf(query).every((word) =>
    word.every((part) =>
      tokens.some((token) => (part.isPrefix ? token.startsWith(part.text) : token === part.text)),
    ),
  );
};

test("a text is found by itself, in other cases and between other texts", () => {
  fc.assert(
    fc.property(anyText, anyText, (text, other) => {
      expect(has(text, text)).toBe(true);
      expect(has(text.normalize("NFD"), text)).toBe(true);
      expect(has(`${other} ${text} ${other}`, text)).toBe(true);
    }),
  );
});

test("tokens have letters, digits and marks only, at most 64 characters, and are their own tokens", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const token of tokensOf(text)) {
        expect(token).toMatch(/^[\p{L}\p{N}\p{M}]{1,64}$/u);
        expect([...tokensOf(token)]).toContain(token);
      }
    }),
  );
});

test("only the beginning of a long word and of a long text counts", () => {
  expect([...tokensOf("x".repeat(100))]).toEqual(["x".repeat(64)]);
  expect([...tokensOf(`${"é ".repeat(21_846)}lost`)]).toEqual(["é"]);
  expect([...tokensOf(`${"é ".repeat(21_840)}kept`)]).toEqual(["é", "kept"]);
});
