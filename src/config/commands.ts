import { z } from "zod";
import { listOf } from "./list.ts";

/** The rule of `commands` in words. */
export const commandsRule =
  "names and commands like files=/usr/local/bin/mcp-files --root /srv, each with an absolute path, separated by commas";

/** Programs that the operator allows, by name; arguments are separated by blanks. */
export const commands = listOf(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}=\/\S+( +\S+)*$/)
    .transform((text): readonly [string, readonly string[]] => {
      const at = text.indexOf("=");
      return [text.slice(0, at), text.slice(at + 1).split(/ +/)];
    }),
)
  .refine((pairs) => new Set(pairs.map(([name]) => name)).size === pairs.length)
  .transform((pairs): Readonly<Record<string, readonly string[]>> => Object.fromEntries(pairs));
