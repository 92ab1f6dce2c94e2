import { resolve } from "node:path";
import { z } from "zod";

/** A comma-separated list; spaces around entries are removed, empty entries are invalid. */
export const listOf = <T>(entry: z.ZodType<T, string>): z.ZodType<readonly T[], string> =>
  z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .pipe(z.array(entry));

/** A whole number in decimal digits, from `min` to `max`. */
export const wholeNumber = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** What a setting of a whole number has in common with others, as parts of its variable. */
export const numberSetting = (min: number, max: number) => ({
  type: "number",
  rule: `a whole number from ${min} to ${max}`,
  schema: wholeNumber(min, max),
});

export const portMax = 65_535;

const units = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** A number of bytes: digits alone, or with KiB, MiB or GiB. */
export const byteSize = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,12}(KiB|MiB|GiB)?$/)
    .transform((text) => Number.parseInt(text, 10) * units[text.replace(/^\d+/, "") as keyof typeof units]) // the pattern allows no other unit
    .pipe(z.number().min(min).max(max));

/** The address of a server, with or without a path; trailing slashes are removed. */
export const baseUrl = z
  .string()
  .refine((text) => isBaseUrl(text))
  .transform((text) => new URL(text).href.replace(/\/+$/, ""));

/** An origin as browsers send it: scheme, host, and the port unless it is the scheme's own. */
export const origin = z.string().refine((text) => isBaseUrl(text) && new URL(text).origin === text);

function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\@?#]+$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).hostname !== "";
}

/** The path of a file or folder, made absolute. */
export const filePath = z
  .string()
  .refine((text) => !text.includes("\0"))
  .transform((text) => resolve(text));

/** 32 bytes in canonical standard base64; other texts that decode to 32 bytes are rejected. */
export const key32 = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/)
  .refine((text) => Buffer.from(text, "base64").toString("base64") === text);

export const onOff = z.enum(["on", "off"]).transform((text) => text === "on");

/** What a switch has in common with others, as parts of its variable. */
export const switchSetting = { type: "on or off", rule: "on or off", schema: onOff };
