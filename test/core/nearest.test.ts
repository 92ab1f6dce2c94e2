import { expect, test } from "vitest";
import { findNearest } from "../../src/core/nearest.ts";

test.each([
  ["PROT", "PORT", "a swapped pair"],
  ["limt", "limit", "a missing character"],
  ["messsage", "message", "an extra character"],
  ["mesage", "message", "a missing character in a longer word"],
  ["webhoks_urk", "webhooks_url", "two mistakes in a longer word"],
  ["Message", "message", "another case"],
])("%s is near %s: %s", (word, meant) => {
  expect(findNearest(word, ["content", "title", "PORT", "limit", "message", "webhooks_url"])).toBe(meant);
});

test.each(["PATH", "PTRO", "lmt", "massagers", "", "something else"])("%j is near no name", (word) => {
  expect(findNearest(word, ["PORT", "limit", "message"])).toBeUndefined();
});

test("the nearest of several words is chosen; of equally near ones, the first in alphabetical order", () => {
  expect(findNearest("orders", ["borders", "older", "ordert"])).toBe("borders");
  expect(findNearest("orders", ["ordert", "borders", "older"])).toBe("borders");
  expect(findNearest("order", ["odder", "orders", "order"])).toBe("order");
});

test("a word of more than 64 characters is near no name", () => {
  const word = "a".repeat(64);
  expect(findNearest(word, [`${word}b`])).toBe(`${word}b`);
  expect(findNearest(`${word}a`, [`${word}b`])).toBeUndefined();
});
