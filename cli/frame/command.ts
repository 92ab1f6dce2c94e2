import { type BaseArgs, buildCommand, type Command, type TypedCommandParameters } from "@stricli/core";
import type { Client } from "../../packages/client/src/index.ts";
import { connect, findTarget, type Target } from "../connection.ts";
import { openProfiles } from "../profiles.ts";
import type { CliContext } from "./context.ts";
import { errorObject, errorText, exitCodeOf } from "./failures.ts";
import { type ClientFlags, jsonFlag, textFlag } from "./parameters.ts";
import { type Print, printTo } from "./print.ts";
import { hasColours, styleOf } from "./style.ts";
import { clean, safeJson } from "./text.ts";

/** What a command works with. */
export interface Cli {
  readonly context: CliContext;
  readonly print: Print;
  /** The installation of the command. @throws CommandError, UsageError when there is none */
  readonly target: () => Target;
  /** A client of it. */
  readonly client: () => Client;
}

export function openCli(context: CliContext, { json = false, profile }: ClientFlags): Cli {
  const print = printTo(context, json);
  const target = () => findTarget(context, profile);
  return { context, print, target, client: () => connect(context, target(), (text) => print.note(`warning: ${text}`)) };
}

/** A command: its help, its flags and arguments, and what it does. */
export interface CommandForm<Flags extends Readonly<Partial<Record<keyof Flags, unknown>>>, Args extends BaseArgs> {
  readonly brief: string;
  readonly examples: readonly string[];
  /** More to know, in the help only. */
  readonly about?: string;
  readonly parameters: NoInfer<TypedCommandParameters<Flags, Args, CliContext>>;
  readonly run: (cli: Cli, flags: Flags, ...args: Args) => Promise<void>;
}

/** Every command has `--json`. An error is written to standard error, with `--json` as JSON, and decides the exit code. */
export function command<
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & ClientFlags,
  const Args extends BaseArgs = [],
>({ brief, examples, about, parameters, run }: CommandForm<Flags, Args>): Command<CliContext> {
  const parts = [brief, ...(about === undefined ? [] : [about]), `EXAMPLES\n${examples.map((example) => `  ${example}`).join("\n")}`];
  return buildCommand<Flags, Args, CliContext>({
    docs: { brief, fullDescription: parts.join("\n\n") },
    parameters,
    async func(flags, ...args) {
      try {
        await run(openCli(this, flags), flags, ...args);
      } catch (error) {
        const { stderr, env } = this.process;
        const { red } = styleOf(hasColours(stderr, env));
        stderr.write(flags.json ? `${safeJson({ error: errorObject(error) })}\n` : `${red("atp:")} ${clean(errorText(error))}\n`);
        this.process.exitCode = exitCodeOf(error);
      }
    },
  });
}

/** Flags of every command that calls a server. */
export const clientFlags = {
  ...jsonFlag,
  profile: textFlag("Installation to use, instead of ATP_URL or the current profile", "NAME", function proposeProfiles(this: CliContext) {
    return openProfiles(this.process.env)
      .all()
      .map(({ name }) => name);
  }),
} as const;
