import { type BaseArgs, buildCommand, type Command, type TypedCommandParameters } from "@stricli/core";
import type { CliContext } from "./context.ts";
import { CommandError, exitCodes, type FailureKind } from "./failures.ts";
import { commandHelp } from "./help.ts";
import { openFilter } from "./jq.ts";
import type { JsonFlags } from "./parameters.ts";
import { hasColours, type Style, styleOf } from "./style.ts";
import { safeJson } from "./text.ts";

/**
 * A command: its help, its flags and arguments, and what it does with a world, for example a client of an
 * installation.
 */
export interface CommandForm<
  World,
  Flags extends Readonly<Partial<Record<keyof Flags, unknown>>>,
  Args extends BaseArgs,
> {
  readonly brief: string;
  readonly examples: readonly string[];
  /** More to know, in the help only. */
  readonly about?: string;
  readonly parameters: NoInfer<TypedCommandParameters<Flags, Args, CliContext>>;
  /** Checks what flags and arguments say together, before anything is opened. @throws UsageError */
  readonly check?: (flags: Flags, ...args: Args) => void;
  readonly run: (world: World, flags: Flags, ...args: Args) => Promise<void>;
}

/** What all commands of a kind share. */
export interface Frame<World, Shared> {
  /** Opens the world for `work`, and closes it. */
  readonly within: (
    context: CliContext,
    flags: Shared,
    work: (world: World) => Promise<void>,
  ) => Promise<void>;
  /** Why the command failed, which decides the exit code. */
  readonly kind: (error: unknown) => FailureKind;
  /** An error as lines for standard error. */
  readonly text: (error: unknown, style: Style) => string;
  /** An error as the member `error` of a JSON object. */
  readonly object: (error: unknown) => object;
}

/** Runs `work` with standard output filtered by `--jq`. Each line for which the filter fails is reported. */
async function withFilter(
  context: CliContext,
  filter: string,
  report: (error: unknown) => void,
  work: (context: CliContext) => Promise<void>,
): Promise<void> {
  const filtered = await openFilter(context, filter, (message) => report(new CommandError(message)));
  try {
    await work(filtered.context);
  } finally {
    const hasFailed = await filtered.end();
    context.process.exitCode = filtered.context.process.exitCode ?? (hasFailed ? exitCodes.failed : 0);
  }
}

/**
 * Builds a command. An error is written to standard error, with `--json` as JSON, and decides the exit code.
 */
export function build<
  World,
  Shared extends JsonFlags,
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & Shared,
  const Args extends BaseArgs = [],
>(frame: Frame<World, Shared>, form: CommandForm<World, Flags, Args>): Command<CliContext> {
  const { brief, parameters, check, run } = form;
  const command = buildCommand<Flags, Args, CliContext>({
    docs: { brief },
    parameters,
    async func(given, ...args) {
      const { stderr, env } = this.process;
      const { jq } = given;
      const flags = jq === undefined ? given : { ...given, json: true };
      const text = (error: unknown) => frame.text(error, styleOf(hasColours(stderr, env)));
      const report = (error: unknown) =>
        void stderr.write(`${flags.json ? safeJson({ error: frame.object(error) }) : text(error)}\n`);
      const work = (context: CliContext) =>
        frame.within(context, flags, (world) => run(world, flags, ...args));
      try {
        check?.(flags, ...args);
        await (jq === undefined ? work(this) : withFilter(this, jq, report, work));
      } catch (error) {
        report(error);
        this.process.exitCode = exitCodes[frame.kind(error)];
      }
    },
  });
  return { ...command, formatHelp: (args) => commandHelp(command, form, args) };
}
