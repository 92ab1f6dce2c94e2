import { expect, test } from "vitest";
import { systemRandom } from "../../../src/core/ids.ts";
import { newUserCode, parseUserCode, shownUserCode } from "../../../src/core/oauth/user-code.ts";

test("a user code has 8 of 20 consonants, all of them equally likely", () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 5_000; n += 1)
    for (const letter of newUserCode(systemRandom)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect([...counts.keys()].toSorted().join("")).toBe("BCDFGHJKLMNPQRSTVWXZ");
  // 2,000 each; six standard deviations are 262.
  for (const [letter, count] of counts) expect(Math.abs(count - 2_000), letter).toBeLessThan(262);
  expect(newUserCode((size) => new Uint8Array(size).fill(239))).toBe("ZZZZZZZZ");
});

test.each([
  ["WDJB-MJHT", "WDJBMJHT"],
  [" wdjb mjht ", "WDJBMJHT"],
  ["w.d-j_b–m j/h\u00a0t", "WDJBMJHT"],
  ["WDJB-MJH", null],
  ["WDJB-MJHTT", null],
  ["WDJB-MJHA", null],
  ["WDJB-MJH1", null],
  ["", null],
  [`WDJBMJHT${" ".repeat(57)}`, null],
])("a typed %j is read as %j", (typed, code) => {
  expect(parseUserCode(typed)).toBe(code);
  if (code !== null) expect(shownUserCode(code)).toBe("WDJB-MJHT");
});
