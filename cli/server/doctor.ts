import { type Config, findMisspeltSettings, loadConfig, showSettings } from "../../src/config/config.ts";
import { withConfigFile } from "../../src/config/sources.ts";
import { buildText, currentBuild } from "../../src/config/version.ts";
import { defined } from "../../src/core/defined.ts";
import { UsageError } from "../frame/failures.ts";
import type { Style } from "../frame/style.ts";
import { problemsOf } from "./config.ts";
import { archive } from "./doctor/archive.ts";
import { database, replica } from "./doctor/database.ts";
import { type Check, examine, fail, type Named, ok, type Verdict, warn } from "./doctor/finding.ts";
import { disk, permissions } from "./doctor/machine.ts";
import { clock, egress, publicAddress } from "./doctor/network.ts";
import { packages } from "./doctor/packages.ts";
import { sandbox } from "./doctor/sandbox.ts";
import { mail, models, signIn, storage } from "./doctor/services.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";

type Env = Readonly<Record<string, string | undefined>>;

const limitMs = 10_000;

/** The settings are checked first: the other checks need them. */
function configuration(env: Env): readonly Named[] {
  const name = "configuration";
  const problems = problemsOf(env).map(({ text }) => ({
    name,
    ...fail(text, "docs/reference/configuration.md explains each setting."),
  }));
  const warnings = findMisspeltSettings(env).map((text) => ({
    name,
    ...warn(text, "Correct the name, or remove the variable."),
  }));
  if (problems.length + warnings.length > 0) return [...problems, ...warnings];
  const set = showSettings(env).filter(({ source }) => source !== "default");
  return [{ name, ...ok(`${set.length} settings are set, and all are valid`) }];
}

function checksOf(config: Config, env: Env, reach: string): readonly Check[] {
  const secrets = showSettings(env).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
  return [
    disk(config),
    clock(config),
    permissions(config, env, secrets),
    database(config),
    replica(config),
    storage(config),
    archive(config),
    egress(config, reach),
    publicAddress(config),
    mail(config),
    models(config),
    packages(config),
    sandbox(config),
    signIn(config),
  ];
}

const words: Record<Verdict, string> = { ok: "ok  ", warn: "WARN", fail: "FAIL" };
const nameWidth = 14;

function textOf({ verdict, name, found, advice }: Named, { green, yellow, red, dim }: Style): string {
  const colour = { ok: green, warn: yellow, fail: red }[verdict];
  const line = `${colour(words[verdict])} ${name.padEnd(nameWidth)}${found}`;
  return advice === undefined ? line : `${line}\n     ${"".padEnd(nameWidth)}${dim(`→ ${advice}`)}`;
}

interface DoctorFlags extends InstallationFlags {
  readonly reach: string;
}

/** @throws UsageError */
function parseAddress(input: string): string {
  if (!/^https?:\/\//.test(input) || !URL.canParse(input))
    throw new UsageError("must be an address with http or https");
  return input;
}

export const doctor = localCommand({
  brief: "Check the settings, the machine and all services that a server uses, and say what to do",
  about:
    "It checks the settings, clock, disk, permissions, database and its replica, storage, archived events, outgoing requests, the public address with its certificate, mail, models, optional packages, the sandbox of commands and single sign-on, each for at most 10 seconds, with or without a running server. Nothing that it writes stays, and no mail is sent. The exit code is 1 if a check fails.",
  examples: [
    "atp doctor",
    "atp doctor --config /etc/atp/atp.toml",
    "atp doctor --json | jq '.[] | select(.verdict != \"ok\")'",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      reach: {
        kind: "parsed",
        brief: "Address that an outgoing request is sent to",
        placeholder: "URL",
        parse: parseAddress,
        default: "https://example.com/",
      },
    },
  },
  run: async ({ context, print }: Here, { config, reach }: DoctorFlags) => {
    const env = withConfigFile(context.process.env, config);
    const settings = configuration(env);
    const isValid = settings.every(({ verdict }) => verdict !== "fail");
    const program = { name: "program", ...ok(buildText(await currentBuild())) };
    const findings = [
      program,
      ...settings,
      ...(isValid ? await examine(checksOf(loadConfig(env), env, reach), limitMs) : []),
    ];
    if (findings.some(({ verdict }) => verdict === "fail")) context.process.exitCode = 1;
    print.lines(
      findings.map(({ name, verdict, found, advice }) => ({ name, verdict, found, ...defined({ advice }) })),
      (finding) => textOf(finding, print.style),
    );
  },
});
