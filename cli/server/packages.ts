import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { buildRouteMap } from "@stricli/core";
import {
  findPackage,
  type OptionalPackage,
  optionalPackages,
  packagesFolder,
} from "../../src/async/optional-packages.ts";
import { loadConfig } from "../../src/config/config.ts";
import { withConfigFile } from "../../src/config/sources.ts";
import type { CliContext } from "../frame/context.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { exactly } from "../frame/parameters.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";

export const packageNames = Object.keys(optionalPackages) as readonly OptionalPackage[];

/** The name with its exact version. */
export const specOf = (name: OptionalPackage): string => `${name}@${optionalPackages[name].version}`;

const dataDirOf = ({ process: { env } }: CliContext, file: string | undefined): string =>
  loadConfig(withConfigFile(env, file)).dataDir;

const list = localCommand({
  brief: "List the optional packages, with their versions and uses",
  examples: ["atp packages list"],
  parameters: { flags: installationFlags },
  run: async ({ context, print }: Here, { config }: InstallationFlags) => {
    const dataDir = dataDirOf(context, config);
    const rows = packageNames.map((name) => ({
      name,
      ...optionalPackages[name],
      is_installed: findPackage(name, dataDir) !== null,
    }));
    print.lines(
      rows,
      ({ name, why, is_installed }) => `${specOf(name)}  ${is_installed ? "installed" : "missing"}  ${why}`,
    );
  },
});

/** Runs the npm next to the running Node, or the one of PATH. @throws CommandError */
async function runNpm(words: readonly string[], folder: string, env: CliContext["process"]["env"]) {
  const path = [dirname(process.execPath), env["PATH"] ?? ""].join(delimiter);
  await new Promise<void>((resolve, reject) => {
    execFile("npm", words, { cwd: folder, env: { ...env, PATH: path } }, (error, _out, err) => {
      if (!error) return resolve();
      if (error.code === "ENOENT")
        return reject(new CommandError("npm is not installed: it comes with Node.js"));
      const [first = "it gave no reason"] = err
        .split("\n")
        .filter((line) => !/^npm (?:warn|notice)/.test(line));
      reject(new CommandError(`npm cannot install it, is its registry reachable? ${first}`));
    });
  });
}

const add = localCommand({
  brief: "Install an optional package into DATA_DIR, in its exact version",
  about:
    "It runs npm, which needs its registry. Processes that run use the package from its next use on. The container has all optional packages.",
  examples: ["atp packages add @ai-sdk/openai"],
  parameters: {
    flags: installationFlags,
    positional: exactly({
      brief: "Name of the package",
      placeholder: "NAME",
      parse: readName,
      proposeCompletions: () => packageNames,
    }),
  },
  run: async ({ context, print }: Here, { config }: InstallationFlags, name: OptionalPackage) => {
    const dataDir = dataDirOf(context, config);
    const folder = packagesFolder(dataDir);
    // The server may have another user, and code is not a secret.
    process.umask(0o022);
    mkdirSync(folder, { recursive: true });
    const how = [
      "--prefix",
      folder,
      "--save-exact",
      "--omit=dev",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
    ];
    await runNpm(["install", ...how, specOf(name)], folder, context.process.env);
    if (findPackage(name, dataDir) === null) throw new CommandError(`npm has not installed ${specOf(name)}`);
    print.result({ name, version: optionalPackages[name].version, folder }, `${specOf(name)}  ${folder}`);
  },
});

/** @throws UsageError */
function readName(input: string): OptionalPackage {
  const name = packageNames.find((known) => known === input);
  if (name === undefined) throw new UsageError(`must be one of ${packageNames.join(", ")}`);
  return name;
}

export const packages = buildRouteMap({
  docs: { brief: "List and install optional packages of the server" },
  routes: { add, list },
});
