import { assert, integer, property, string } from "fast-check";
import { expect, test } from "vitest";
import { cipherFrom } from "../../../src/core/cipher.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { refreshTokens } from "../../../src/core/oauth/family.ts";
import { cipher } from "../../support/cipher.ts";

const tokens = refreshTokens(cipher, systemIds);

test("a refresh token names its family, only for its client and installation", () => {
  const family = systemIds.short();
  const text = tokens.make(family, "client_a");
  expect(text).toMatch(/^refresh(_[2-9A-HJ-NP-Za-km-z]{22}){3}$/);
  expect(tokens.familyOf(text, "client_a")).toBe(family);
  expect(tokens.familyOf(text, "client_b")).toBeNull();
  expect(
    refreshTokens(cipherFrom(Buffer.alloc(32, 8), systemRandom), systemIds).familyOf(text, "client_a"),
  ).toBeNull();
  expect(tokens.make(family, "client_a"), "no two are the same").not.toBe(text);
});

test("a refresh token with any change names no family", () => {
  const family = systemIds.short();
  assert(
    property(
      integer({ min: 0, max: 75 }),
      string({ maxLength: 3 }),
      integer({ min: 0, max: 3 }),
      (at, put, cut) => {
        const text = tokens.make(family, "client_a");
        const changed = text.slice(0, at) + put + text.slice(at + cut);
        expect(tokens.familyOf(changed, "client_a")).toBe(changed === text ? family : null);
      },
    ),
    { numRuns: 2000 },
  );
});

test("the MACs of one kind differ from those of another", () => {
  expect(cipher.createMac("a")("text")).not.toEqual(cipher.createMac("b")("text"));
  expect(cipher.createMac("a")("text")).toEqual(cipher.createMac("a")("text"));
});
