import { type BaseArgs, buildCommand, type Command, type TypedCommandParameters } from "@stricli/core";
import type { CliContext } from "./context.ts";
import { exitCodeOf } from "./failures.ts";
import { hasColours, type Style, styleOf } from "./style.ts";
import { safeJson } from "./text.ts";

/** A command: its help, its flags and arguments, and what it does with a world, for example a client of an installation. */
export interface CommandForm<World, Flags extends Readonly<Partial<Record<keyof Flags, unknown>>>, Args extends BaseArgs> {
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
  readonly within: (context: CliContext, flags: Shared, work: (world: World) => Promise<void>) => Promise<void>;
  /** An error as lines for standard error. */
  readonly text: (error: unknown, style: Style) => string;
  /** An error as the member `error` of a JSON object. */
  readonly object: (error: unknown) => object;
}

/** Builds a command. An error is written to standard error, with `--json` as JSON, and decides the exit code. */
export function build<
  World,
  Shared extends { readonly json?: boolean },
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & Shared,
  const Args extends BaseArgs = [],
>(frame: Frame<World, Shared>, { brief, examples, about, parameters, check, run }: CommandForm<World, Flags, Args>): Command<CliContext> {
  const parts = [brief, ...(about === undefined ? [] : [about]), `EXAMPLES\n${examples.map((example) => `  ${example}`).join("\n")}`];
  return buildCommand<Flags, Args, CliContext>({
    docs: { brief, fullDescription: parts.join("\n\n") },
    parameters,
    async func(flags, ...args) {
      try {
        check?.(flags, ...args);
        await frame.within(this, flags, (world) => run(world, flags, ...args));
      } catch (error) {
        const { stderr, env } = this.process;
        const text = () => frame.text(error, styleOf(hasColours(stderr, env)));
        stderr.write(`${flags.json ? safeJson({ error: frame.object(error) }) : text()}\n`);
        this.process.exitCode = exitCodeOf(error);
      }
    },
  });
}
