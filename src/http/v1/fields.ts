import { z } from "zod";
import { dateRule, secondsOfDate } from "../date-seconds.ts";

/** A text; an empty one is as good as none. */
export const filled = z
  .string()
  .transform((text) => (text === "" ? undefined : text))
  .optional();

/** A whole number in a query, where all is text, and within what a number holds exactly. */
export const whole = z
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
export const seconds = z.union([z.string().transform(secondsOfDate).pipe(z.number()), whole], { error: dateRule }).transform(BigInt);

/** A text out of a few, each with what it stands for. */
export const wordOf = <const T>(words: Readonly<Record<string, T>>) =>
  z.string().transform((text, context) => {
    const [, meant] = Object.entries(words).find(([word]) => word === text) ?? [];
    if (meant !== undefined) return meant;
    context.addIssue({ code: "custom", message: `must be one of ${Object.keys(words).join(", ")}` });
    return z.NEVER;
  });

/** A list in a query: repeated, or parted by commas; each once. */
export const listOf = <T>(item: z.ZodType<T, string>) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((text) => text.split(",").filter(Boolean)))
    .pipe(z.array(item))
    .transform((items) => [...new Set(items)]);

/** Without the members that are not there. */
export const present = <T extends object>(members: T): Present<T> =>
  // What is left has a value by construction.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
