import { z } from "zod";
import { dateRule, secondsOfDate } from "../v2/scalars.ts";

/** The oldest spellings of a profile (spec/v1.md 4.1, 4.6) with their current names. */
const spellings: Readonly<Record<string, string>> = { speed: "lite", quality: "standard" };

/** The members of a request that name a profile. */
export const profileFields = {
  agent_profile: z.string().optional(),
  mode: z.enum(["speed", "quality"]).optional(),
};

/**
 * The requested profile, in any spelling that v2 also accepts; `mode` applies only without `agent_profile`.
 */
export function profileIn({
  agent_profile,
  mode,
}: {
  agent_profile?: string | undefined;
  mode?: string | undefined;
}) {
  const requested = agent_profile || mode;
  return requested === undefined ? {} : { agentProfile: spellings[requested] ?? requested };
}

/** A text; an empty one counts as absent. */
export const optionalText = z
  .string()
  .transform((text) => (text === "" ? undefined : text))
  .optional();

/** A whole number, also as the text of a query, in the range of safe integers. */
export const integer = z
  .union(
    [
      z.number(),
      z
        .string()
        .regex(/^-?\d{1,16}$/)
        .transform(Number),
    ],
    { error: "must be a whole number" },
  )
  .pipe(z.int({ error: "must be a whole number" }));

/** Unix seconds: a whole number, or a date like 2026-01-31, which is midnight UTC. */
export const seconds = z
  .union([z.string().transform(secondsOfDate).pipe(z.number()), integer], { error: dateRule })
  .transform(BigInt);

/** One of several names, converted to its value. */
export const namedValue = <const T>(values: Readonly<Record<string, T>>) =>
  z.string().transform((text, context) => {
    const [, value] = Object.entries(values).find(([name]) => name === text) ?? [];
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `must be one of ${Object.keys(values).join(", ")}` });
    return z.NEVER;
  });

/** A list in a query: a repeated member, or values separated by commas. Duplicates are removed. */
export const listOf = <T>(item: z.ZodType<T, string>) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((input) => [input].flat().flatMap((text) => text.split(",").filter(Boolean)))
    .pipe(z.array(item))
    .transform((items) => [...new Set(items)]);

/** A copy without the members that are undefined. */
export const withoutUndefined = <T extends object>(members: T): Present<T> =>
  // The remaining members have a value.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
