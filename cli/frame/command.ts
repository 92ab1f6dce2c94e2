import type { BaseArgs, Command } from "@stricli/core";
import type { Client } from "../../packages/client/src/index.ts";
import { type ConnectionOptions, connect, findTarget, type Target } from "../connection.ts";
import { openProfiles } from "../profiles.ts";
import { errorObject, errorText, kindOf } from "./api-failures.ts";
import type { CliContext } from "./context.ts";
import { build, type CommandForm, type Frame } from "./form.ts";
import { type ClientFlags, jsonFlags, textFlag } from "./parameters.ts";
import { type Print, printTo } from "./print.ts";
import { clean } from "./text.ts";

/** What a command that calls the API works with. */
export interface Cli {
  readonly context: CliContext;
  readonly print: Print;
  /** The installation of the command. @throws CommandError, UsageError when there is none */
  readonly target: () => Target;
  /** A client of it. */
  readonly client: (options?: ConnectionOptions) => Client;
}

export function openCli(context: CliContext, { json = false, profile }: ClientFlags): Cli {
  const print = printTo(context, json);
  const target = () => findTarget(context, profile);
  return {
    context,
    print,
    target,
    client: (options) => connect(context, target(), (text) => print.note(`warning: ${text}`), options),
  };
}

const clientFrame: Frame<Cli, ClientFlags> = {
  within: (context, flags, work) => work(openCli(context, flags)),
  text: (error, { red }) => `${red("atp:")} ${clean(errorText(error))}`,
  object: errorObject,
  kind: kindOf,
};

/** A command that calls the API, or needs no installation. It has `--json`. */
export const command = <
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & ClientFlags,
  const Args extends BaseArgs = [],
>(
  form: CommandForm<Cli, Flags, Args>,
): Command<CliContext> => build(clientFrame, form);

/** Flags of every command that calls a server. */
export const clientFlags = {
  ...jsonFlags,
  profile: textFlag(
    "Installation to use, instead of ATP_URL or the current profile",
    "NAME",
    function proposeProfiles(this: CliContext) {
      return openProfiles(this.process.env)
        .all()
        .map(({ name }) => name);
    },
  ),
} as const;
