/** What an agent used up. All are whole and not negative. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly toolCalls: number;
}

/** What is used under a profile costs so much, in millionths of a credit; all are whole. */
export interface Price {
  /** A token given to a model. */
  readonly inputToken: number;
  /** A token that a model gave. */
  readonly outputToken: number;
  readonly toolCall: number;
  /** A turn that ends with an answer or a question. */
  readonly turn: number;
}

/** Prices by profile; what a profile uses that has none costs nothing. */
export type PriceTable = Readonly<Record<string, Price>>;

/** Millionths in a credit. */
export const perCredit = 1_000_000;

/** What is to be paid for something: whole credits, and what these are ahead of its price. */
export interface Charge {
  readonly credits: number;
  /** Millionths of a credit, less than a credit: the next usage of the same task is paid from it first. */
  readonly ahead: number;
}

/** The price of a usage and of so many turns, exact, in millionths of a credit. */
export const priceOf = ({ inputToken, outputToken, toolCall, turn }: Price, used: Usage, turns = 0): bigint =>
  BigInt(inputToken) * BigInt(used.inputTokens) +
  BigInt(outputToken) * BigInt(used.outputTokens) +
  BigInt(toolCall) * BigInt(used.toolCalls) +
  BigInt(turn) * BigInt(turns);

/**
 * The rule of rounding, the only one: all that a task has used is priced exactly, and the
 * sum is rounded up to whole credits. So a fraction is charged once, ahead, and what comes
 * next is paid from what is left of it.
 *
 * @param price millionths of a credit.
 * @param ahead what the task was charged ahead before.
 */
export function chargeFor(price: bigint, ahead: number): Charge {
  const due = price - BigInt(ahead);
  if (due <= 0n) return { credits: 0, ahead: Number(-due) };
  const unit = BigInt(perCredit);
  const credits = (due + unit - 1n) / unit;
  return { credits: Number(credits), ahead: Number(credits * unit - due) };
}

/** What a call costs at most, whatever was charged ahead: whole credits. */
export const mostFor = (price: bigint): number => chargeFor(price, 0).credits;
