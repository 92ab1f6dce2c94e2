import type { CliContext } from "./context.ts";
import { UsageError } from "./failures.ts";

type Proposals = (this: CliContext, partial: string) => readonly string[] | Promise<readonly string[]>;

const asText = (input: string): string => input;

/** A whole number of at least `least`. */
export const parseCount =
  (least: number) =>
  (input: string): number => {
    const count = Number(input);
    if (!/^\d+$/.test(input) || count < least)
      throw new UsageError(`must be a whole number of at least ${least}`);
    return count;
  };

/** An optional flag with a text. */
export const textFlag = (brief: string, placeholder = "TEXT", proposeCompletions?: Proposals) =>
  ({
    kind: "parsed",
    brief,
    placeholder,
    optional: true,
    parse: asText,
    ...(proposeCompletions ? { proposeCompletions } : {}),
  }) as const;

/** An optional flag that may be given several times. */
export const textsFlag = (brief: string, placeholder = "TEXT", proposeCompletions?: Proposals) =>
  ({
    kind: "parsed",
    brief,
    placeholder,
    optional: true,
    variadic: true,
    parse: asText,
    ...(proposeCompletions ? { proposeCompletions } : {}),
  }) as const;

/** An optional flag with texts that are separated by commas. */
export const listFlag = (brief: string, placeholder: string) =>
  ({
    kind: "parsed",
    brief,
    placeholder,
    optional: true,
    parse: (text: string): readonly string[] => text.split(",").map((part) => part.trim()),
  }) as const;

export const countFlag = (brief: string, least = 1) =>
  ({ kind: "parsed", brief, placeholder: "NUMBER", optional: true, parse: parseCount(least) }) as const;

export const switchFlag = (brief: string) =>
  ({ kind: "boolean", brief, optional: true, withNegated: false }) as const;

export const choiceFlag = <Value extends string>(brief: string, values: readonly Value[]) =>
  ({ kind: "enum", brief, values, optional: true }) as const;

/** One argument that the command needs. */
export const argument = (brief: string, placeholder: string, proposeCompletions?: Proposals) =>
  ({ brief, placeholder, parse: asText, ...(proposeCompletions ? { proposeCompletions } : {}) }) as const;

export const optionalArgument = (brief: string, placeholder: string, proposeCompletions?: Proposals) =>
  ({ ...argument(brief, placeholder, proposeCompletions), optional: true }) as const;

/** Exactly these arguments. */
export const exactly = <const Parameters extends readonly unknown[]>(...parameters: Parameters) =>
  ({ kind: "tuple", parameters }) as const;

/** Flags of every command that can write JSON. */
export interface JsonFlags {
  readonly json?: boolean;
  readonly jq?: string;
}

export const jsonFlags = {
  json: switchFlag("Write JSON, in the form of the API"),
  jq: textFlag("Write what this filter of jq makes of the JSON", "FILTER"),
} as const;

/** Flags of every command that calls a server. */
export interface ClientFlags extends JsonFlags {
  readonly profile?: string;
}
