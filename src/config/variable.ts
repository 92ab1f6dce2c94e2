import type { ZodType } from "zod";

/** One variable of the environment: how it is read, and what the documentation says of it. */
export interface Variable<T> {
  readonly type: string;
  /** What it is when unset, as if it had been written so; null where unset means something of its own. */
  readonly fallback: string | null;
  /** What the documentation says where the default depends on other variables, or unset has a meaning. */
  readonly unset?: string;
  /** The end of the sentence "NAME must be …". */
  readonly rule: string;
  readonly example: string;
  /** One or two sentences for operators. */
  readonly description: string;
  /** Its value is never shown. */
  readonly secret?: true;
  readonly schema: ZodType<T, string>;
}

/** A variable with its type kept. */
export const variable = <T>(entry: Variable<T>): Variable<T> => entry;

/** A value of the environment that breaks its variable's rule. */
export interface Problem {
  readonly variable: string;
  readonly text: string;
}

/** The environment does not make a configuration: every problem with its variable, rule and an example. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ text }) => text).join("\n"));
    this.problems = problems;
  }
}

const shownMax = 80;

/** What is wrong with a value, with a good one; a secret's own value is left out. */
export function problemWith(name: string, { rule, example, secret }: Variable<unknown>, value: string): Problem {
  const shown = secret ? "" : ` (it is ${JSON.stringify(value.slice(0, shownMax))})`;
  return { variable: name, text: `${name} must be ${rule}${shown}; for example ${name}=${example}` };
}
