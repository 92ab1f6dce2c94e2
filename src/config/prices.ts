import { z } from "zod";
import { parseJson } from "../core/json.ts";
import { numberSetting } from "./values.ts";
import { defineVariable } from "./variable.ts";

/** These maximums keep every cost within 32 bits. */
const priceMax = 100;
const turnMax = 1_000_000;

/** A price in credits with at most three decimals, as thousandths of a credit. */
const thousandths = (max: number) =>
  z
    .number()
    .min(0)
    .max(max)
    .refine((price) => Math.abs(price * 1000 - Math.round(price * 1000)) < 1e-6)
    .transform((price) => Math.round(price * 1000));

const price = z
  .strictObject({
    input: thousandths(priceMax).default(0),
    cached_input: thousandths(priceMax).optional(),
    cache_write: thousandths(priceMax).optional(),
    output: thousandths(priceMax).default(0),
    tool_call: thousandths(priceMax).default(0),
    turn: thousandths(turnMax).default(0),
  })
  .transform(({ input, cached_input = input, cache_write = input, output, tool_call, turn }) => ({
    // A price of 1,000 units in thousandths of a credit equals the price of one unit in millionths.
    inputToken: input,
    cachedInputToken: cached_input,
    cacheWriteToken: cache_write,
    outputToken: output,
    toolCall: tool_call * 1000,
    turn: turn * 1000,
  }));

/** Reads prices that are stored with a model. @throws for others than PRICES accepts. */
export const readPrice = (value: unknown): z.infer<typeof price> => price.parse(value);

/** Prices by profile, in millionths of a credit. */
export type Prices = Readonly<Record<string, z.infer<typeof price>>>;

const table = z.record(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/), price);

/** Prices of agents' work, and the credits of spaces without a budget. */
export const prices = {
  PRICES: defineVariable({
    type: "JSON",
    fallback: "{}",
    rule: `a JSON object of prices by profile, as documented in docs/operate/budgets.md: input, cached_input, cache_write, output, tool_call from 0 to ${priceMax}, turn from 0 to ${turnMax}, each with at most three decimals`,
    example: '{"manus-1.6":{"input":0.1,"output":0.5,"tool_call":0.05,"turn":1}}',
    description:
      "The prices of a profile's tasks in credits: `input`, `cached_input`, `cache_write` and `output` per 1,000 tokens, `tool_call` per tool call, `turn` per turn that ends with an answer or a question. [docs/operate/budgets.md](../operate/budgets.md) has the rounding rule.",
    schema: z.string().transform((text, context) => {
      const parsed = table.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      context.addIssue("not prices");
      return z.NEVER;
    }),
  }),
  BUDGET_STEP: defineVariable({
    ...numberSetting(0, 1_000_000),
    fallback: "25",
    example: "100",
    description:
      "The credits that a run of the offline agent, of an A2A agent or of a worker holds in each of its budgets while it runs, or the whole budget if it is smaller. The run begins only if these credits are left. 0: it holds nothing, and begins unless a budget is spent ([docs/operate/budgets.md](../operate/budgets.md)).",
  }),
  CREDITS: defineVariable({
    ...numberSetting(0, 2_000_000_000),
    fallback: "1000000000",
    example: "1000000",
    description:
      "The credits that `usage.availableCredits` returns for spaces without a budget. It does not limit spending; budgets do.",
  }),
};
