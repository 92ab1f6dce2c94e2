import { UsageError } from "../../frame/failures.ts";
import { textFlag } from "../../frame/parameters.ts";

/** Whose space a command works on: by default the first team, and its owner. */
export interface TeamFlags {
  readonly team?: string;
}

export interface HolderFlags extends TeamFlags {
  readonly user?: string;
}

export const teamFlags = { team: textFlag("Name of the team; by default the first team", "NAME") } as const;

export const holderFlags = {
  user: textFlag("E-mail address of the person; by default the team's owner", "EMAIL"),
  ...teamFlags,
} as const;

const asText = (input: string): string => input;

/** A flag with a text that the command needs. */
export const neededText = (brief: string, placeholder: string) =>
  ({ kind: "parsed", brief, placeholder, parse: asText }) as const;

/** A whole number. */
export const parseWhole =
  (least: number, most: number) =>
  (input: string): number => {
    const number = Number(input);
    if (!/^\d{1,15}$/.test(input) || number < least || number > most)
      throw new UsageError(`must be a whole number from ${least} to ${most}`);
    return number;
  };

const hourMs = 3_600_000;

/** Days or hours, in milliseconds. */
export function parseSpan(text: string): number {
  const { count, unit } = /^(?<count>[1-9]\d{0,4})(?<unit>[dh])$/.exec(text)?.groups ?? {};
  if (count === undefined) throw new UsageError("must be days or hours, for example 30d or 12h");
  return Number(count) * (unit === "d" ? 24 * hourMs : hourMs);
}
