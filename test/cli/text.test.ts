import { expect, test } from "vitest";
import { shorten, widthOf, wrap } from "../../cli/frame/text.ts";

test.each([
  ["Latin", "café", 4],
  ["a combining accent", "cafe\u0301", 4],
  ["Chinese", "漢字", 4],
  ["Chinese outside the first plane", "\u{20000}", 2],
  ["Korean", "한국", 4],
  ["emoji of one character", "🙂", 2],
  ["emoji of several", "👨‍👩‍👧🇩🇪1️⃣❤️", 8],
  ["a heart as a character", "♥", 1],
  ["a space without width", "a\u200bb", 2],
])("a text takes the columns of a terminal: %s", (_, text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

test("a text is shortened and wrapped by columns, at blanks where it can be", () => {
  expect(shorten("漢字漢字", 6)).toBe("漢字…");
  expect(wrap("one two three 漢字漢字漢字", 10)).toEqual(["one two", "three", "漢字漢字漢", "字"]);
});
