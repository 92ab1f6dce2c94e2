import { expect, test } from "vitest";
import { nearest } from "../../src/core/nearest.ts";

test.each([
  ["PROT", "PORT", "a swapped pair"],
  ["limt", "limit", "a missing character"],
  ["messsage", "message", "an extra character"],
  ["mesage", "message", "a missing character in a longer word"],
  ["webhoks_urk", "webhooks_url", "two mistakes in a longer word"],
  ["Message", "message", "another case"],
])("%s means %s: %s", (word, meant) => {
  expect(nearest(word, ["content", "title", "PORT", "limit", "message", "webhooks_url"])).toBe(meant);
});

test.each(["PATH", "PTRO", "lmt", "massagers", "", "something else"])("%j is near to nothing", (word) => {
  expect(nearest(word, ["PORT", "limit", "message"])).toBeUndefined();
});

test("of several near words the nearest is taken, and the first in alphabetical order of equally near ones", () => {
  expect(nearest("orders", ["borders", "older", "ordert"])).toBe("borders");
  expect(nearest("orders", ["ordert", "borders", "older"])).toBe("borders");
  expect(nearest("order", ["odder", "orders", "order"])).toBe("order");
});

test("a word of more than 64 characters is compared with nothing", () => {
  const word = "a".repeat(64);
  expect(nearest(word, [`${word}b`])).toBe(`${word}b`);
  expect(nearest(`${word}a`, [`${word}b`])).toBeUndefined();
});
