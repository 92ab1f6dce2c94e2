import type { BaseArgs, Command } from "@stricli/core";
import { ConfigError } from "../../../src/config/variable.ts";
import { Failure, type Reason } from "../../../src/core/failure.ts";
import type { CliContext } from "../../frame/context.ts";
import {
  CommandError,
  type FailureKind,
  messageOf,
  ownKind,
  ownObject,
  UsageError,
} from "../../frame/failures.ts";
import { build, type CommandForm, type Frame } from "../../frame/form.ts";
import { type JsonFlags, jsonFlags, textFlag } from "../../frame/parameters.ts";
import { type Print, printTo } from "../../frame/print.ts";
import { faultText } from "./fault.ts";
import type { OpenedInstallation } from "./installation.ts";

/** What a command on the server works with. */
export interface Here {
  readonly context: CliContext;
  readonly print: Print;
}

/** A command on an installation also has the installation. */
export interface OnInstallation extends Here, OpenedInstallation {}

type Shared = JsonFlags;

/** Flags of every command that reads the settings. */
export interface SettingsFlags {
  readonly config?: string;
}

export const settingsFlags = {
  config: textFlag("File with settings, instead of CONFIG_FILE", "FILE"),
} as const;

/** Flags of every command on an installation. */
export type InstallationFlags = Shared & SettingsFlags;

export const installationFlags = { ...settingsFlags, ...jsonFlags } as const;

/** The other reasons of a failure have the kind `failed`. */
const kindOfReason: Readonly<Partial<Record<Reason, FailureKind>>> = {
  unauthenticated: "credential",
  permission_denied: "credential",
  not_found: "not_found",
  unavailable: "away",
};

const errors = {
  kind: (error: unknown): FailureKind =>
    (error instanceof Failure ? kindOfReason[error.reason] : ownKind(error)) ?? "failed",
  text: (error: unknown): string =>
    ownKind(error) === undefined ? faultText(error).trimEnd() : messageOf(error),
  object(error: unknown): object {
    if (error instanceof ConfigError)
      return { code: "configuration", message: error.message, problems: error.problems };
    if (error instanceof UsageError || error instanceof CommandError) return ownObject(error);
    return { code: error instanceof Failure ? error.reason : "failed", message: errors.text(error) };
  },
};

const here = (context: CliContext, { json = false }: Shared): Here => ({
  context,
  print: printTo(context, json),
});

/** Only this user can read the files that commands on the server write. */
const restrictFiles = (): void => void process.umask(0o077);

const hereFrame: Frame<Here, Shared> = {
  ...errors,
  within(context, flags, work) {
    restrictFiles();
    return work(here(context, flags));
  },
};

const installationFrame: Frame<OnInstallation, InstallationFlags> = {
  ...errors,
  async within(context, flags, work) {
    restrictFiles();
    const { openInstallation } = await import("./installation.ts");
    await using installation = await openInstallation(context, flags.config);
    await work({ ...here(context, flags), ...installation });
  },
};

/** A command of the server's machine that opens no installation, or opens it itself. */
export const localCommand = <
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & Shared,
  const Args extends BaseArgs = [],
>(
  form: CommandForm<Here, Flags, Args>,
): Command<CliContext> => build(hereFrame, form);

const aboutInstallation =
  "It works on the installation of DATA_DIR or DATABASE_URL, also while servers run, and writes its location to standard error. It needs the settings of the server, and never creates an installation.";

/** A command on the installation of the settings. It is opened before `run`, and closed after it. */
export const installationCommand = <
  const Flags extends Readonly<Partial<Record<keyof Flags, unknown>>> & InstallationFlags,
  const Args extends BaseArgs = [],
>(
  form: CommandForm<OnInstallation, Flags, Args>,
): Command<CliContext> => {
  const about = form.about === undefined ? aboutInstallation : `${form.about}\n\n${aboutInstallation}`;
  return build(installationFrame, { ...form, about });
};
