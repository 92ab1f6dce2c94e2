import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addReferences,
  canonicalLocale,
  deriveTitle,
  estimateTokens,
  messageText,
} from "../../src/core/tasks/message.ts";

/** This many ASCII characters around this many others. */
const textOf = (ascii: number, others: number, other: string): string =>
  "a".repeat(ascii >> 1) + other.repeat(others) + "\u007f".repeat(ascii - (ascii >> 1));

const other = fc.constantFrom("é", "漢", "🙂", "\u0080");
const counts = fc.record({
  ascii: fc.integer({ min: 0, max: 20_010 }),
  others: fc.integer({ min: 0, max: 5_010 }),
  other,
});

/** Texts whose estimate is within two tokens of the limit. */
const borderCounts = fc
  .record({ others: fc.integer({ min: 0, max: 5_000 }), off: fc.integer({ min: -8, max: 8 }), other })
  .map(({ others, off, other }) => ({ ascii: Math.max(1, 4 * (5_000 - others) + off), others, other }));

const accepted = (...parts: string[]): boolean => {
  try {
    messageText({ texts: parts });
    return true;
  } catch {
    return false;
  }
};

describe("the size of a message", () => {
  test("every four ASCII characters, rounded up, are a token, and any other character is one", () => {
    const right = fc.property(counts, ({ ascii, others, other }) => {
      expect(estimateTokens(textOf(ascii, others, other))).toBe(Math.ceil(ascii / 4) + others);
    });
    fc.assert(right);
  });

  test("accepts 5,000 estimated tokens, and refuses one more", () => {
    const right = fc.property(fc.oneof(borderCounts, counts), ({ ascii, others, other }) => {
      const tokens = Math.ceil(ascii / 4) + others;
      expect(accepted(textOf(ascii, others, other))).toBe(tokens > 0 && tokens <= 5_000);
    });
    fc.assert(right, { numRuns: 200 });
  });

  test("the parts of a message count together, without the line feeds between them", () => {
    expect(accepted("a".repeat(10_000), "b".repeat(10_000))).toBe(true);
    expect(accepted("a".repeat(10_000), "b".repeat(10_001))).toBe(false);
    expect(accepted("a".repeat(5_000), "b".repeat(5_000), "c".repeat(10_000))).toBe(true);
  });

  test("characters outside the basic plane count as one each", () => {
    expect(accepted("🙂".repeat(5_000))).toBe(true);
    expect(accepted("🙂".repeat(5_001))).toBe(false);
  });
});

describe("the title and locale from a message", () => {
  test.each([
    ["the first line with text", "\n  \n  First line \nsecond", "First line"],
    ["all 80 characters", "x".repeat(80), "x".repeat(80)],
    ["longer ones cut to 80", "x".repeat(81), `${"x".repeat(79)}…`],
    ["characters rather than code units", "🙂".repeat(80), "🙂".repeat(80)],
    ["only complete characters", "🙂".repeat(81), `${"🙂".repeat(79)}…`],
    ["a line with a Windows ending", "Title\r\nText", "Title"],
  ])("a title is %s", (_what, text, title) => expect(deriveTitle(text)).toBe(title));

  test.each([
    ["zh-cn", "zh-CN"],
    ["EN-us", "en-US"],
    ["ja", "ja"],
    ["de-DE-u-co-phonebk", "de-DE-u-co-phonebk"],
    ["not a tag", "pt-BR"],
    ["x", "pt-BR"],
    ["en_US", "pt-BR"],
    ["", "pt-BR"],
    [undefined, "pt-BR"],
  ])("the locale %j of an account with pt-BR becomes %s", (wanted, locale) =>
    expect(canonicalLocale(wanted, "pt-BR")).toBe(locale));
});

describe("references", () => {
  const id = fc.integer({ min: 0, max: 40 }).map((n) => `task${n}`);
  const lists = fc.array(fc.array(id, { maxLength: 20 }), { maxLength: 6 });

  test("a task keeps the 20 most recent ones, each once, in order, and never itself", () => {
    const right = fc.property(lists, (added) => {
      const kept = added.reduce<readonly string[]>(
        (present, next) => addReferences(present, next, "task0"),
        [],
      );
      const named = added.flatMap((list) => [...new Set(list)]).filter((one) => one !== "task0");
      const newestFirst = [...new Set(named.toReversed())];
      expect(kept).toEqual(newestFirst.slice(0, 20).toReversed());
    });
    fc.assert(right);
  });

  test("an empty list changes none", () => expect(addReferences(["a", "b"], [], "t")).toEqual(["a", "b"]));
});
