import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { chargeFor, highestPriceOf, maxCredits, perCredit, priceOf } from "../../../src/core/usage/price.ts";

const price = record({
  inputToken: integer({ min: 0, max: 100_000 }),
  outputToken: integer({ min: 0, max: 100_000 }),
  toolCall: integer({ min: 0, max: 100_000_000 }),
  turn: integer({ min: 0, max: 1_000_000_000 }),
});
const usage = record({
  inputTokens: integer({ min: 0, max: 1_000_000_000 }),
  outputTokens: constantFrom(0, 1, 999, 1_000, 1_001),
  toolCalls: integer({ min: 0, max: 3 }),
});

test("a task costs the price of its total usage, rounded up once, for any split into calls", () => {
  assert(
    property(price, array(usage, { maxLength: 20 }), (table, calls) => {
      let ahead = 0;
      let charged = 0n;
      let exact = 0n;
      for (const call of calls) {
        const due = priceOf(table, call);
        const charge = chargeFor(due, ahead);
        exact += due;
        charged += BigInt(charge.credits);
        ahead = charge.ahead;
        expect(ahead).toBeLessThan(perCredit);
        // A call never costs more than its reservation.
        expect(charge.credits).toBeLessThanOrEqual(maxCredits(due));
        expect(charged).toBe((exact + BigInt(perCredit) - 1n) / BigInt(perCredit));
      }
    }),
  );
});

test("cached and written input has its own price, and no usage costs more than its highest price", () => {
  const table = {
    inputToken: 100,
    cachedInputToken: 10,
    cacheWriteToken: 125,
    ...{ outputToken: 0, toolCall: 0, turn: 0 },
  };
  const used = {
    inputTokens: 1_000,
    cachedInputTokens: 700,
    cacheWriteTokens: 200,
    outputTokens: 0,
    toolCalls: 0,
  };
  expect(priceOf(table, used)).toBe(BigInt(100 * 100 + 700 * 10 + 200 * 125));
  expect(highestPriceOf(table, used)).toBe(BigInt(100 * 125 + 700 * 10 + 200 * 125));
  const { cachedInputToken: _, cacheWriteToken: __, ...plain } = table;
  expect(priceOf(plain, used), "by default the price of input").toBe(BigInt(1_000 * 100));
});

test("prices follow the table: per 1,000 tokens, per call, per turn", () => {
  const table = { inputToken: 100, outputToken: 500, toolCall: 50_000, turn: 1_000_000 };
  expect(priceOf(table, { inputTokens: 10_000, outputTokens: 2_000, toolCalls: 2 }, 1)).toBe(
    BigInt(1_000_000 + 1_000_000 + 100_000 + 1_000_000),
  );
  expect(chargeFor(200_000n, 0)).toEqual({ credits: 1, ahead: 800_000 });
  expect(chargeFor(200_000n, 800_000)).toEqual({ credits: 0, ahead: 600_000 });
  expect(chargeFor(0n, 5)).toEqual({ credits: 0, ahead: 5 });
});
