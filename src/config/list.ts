import { z } from "zod";

/** A comma-separated list; blanks around an entry are dropped, an empty entry is none. */
export const listOf = <T>(entry: z.ZodType<T, string>): z.ZodType<readonly T[], string> =>
  z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .pipe(z.array(entry));
