import { z } from "zod";
import { wholeNumber } from "./values.ts";
import { variable } from "./variable.ts";

/** So that no cost leaves what 32 bits hold. */
const priceMax = 100;
const turnMax = 1_000_000;

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
    output: thousandths(priceMax).default(0),
    tool_call: thousandths(priceMax).default(0),
    turn: thousandths(turnMax).default(0),
  })
  .transform(({ input, output, tool_call, turn }) => ({
    // A price for 1,000 in thousandths of a credit is that for one in millionths.
    inputToken: input,
    outputToken: output,
    toolCall: tool_call * 1000,
    turn: turn * 1000,
  }));

/** Prices by profile, in millionths of a credit. */
export type Prices = Readonly<Record<string, z.infer<typeof price>>>;

const table = z.record(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/), price);

/** What agents' work costs, and what there is to spend. */
export const prices = {
  PRICES: variable({
    type: "JSON",
    fallback: "{}",
    rule: `a JSON object of prices by profile, as docs/budgets.md has it: input, output, tool_call from 0 to ${priceMax}, turn from 0 to ${turnMax}, each with at most three decimals`,
    example: `'{"manus-1.6":{"input":0.1,"output":0.5,"tool_call":0.05,"turn":1}}'`,
    description:
      "What tasks of a profile cost in credits: `input` and `output` by 1,000 tokens, `tool_call` by use of a tool, `turn` by turn that ends with an answer or a question. [docs/budgets.md](budgets.md) has the rule of rounding.",
    schema: z.string().transform((text, context) => {
      const parsed = table.safeParse(jsonIn(text));
      if (parsed.success) return parsed.data;
      context.addIssue("not prices");
      return z.NEVER;
    }),
  }),
  CREDITS: variable({
    type: "number",
    fallback: "1000000000",
    rule: "a whole number from 0 to 2000000000",
    example: "1000000",
    description: "What `usage.availableCredits` tells of spaces without a budget. It limits nothing: budgets do.",
    schema: wholeNumber(0, 2_000_000_000),
  }),
};

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
