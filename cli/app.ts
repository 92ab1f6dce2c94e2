import {
  type Application,
  buildApplication,
  buildCommand,
  buildRouteMap,
  EnumValidationError,
  proposeCompletions,
  run,
  text_en,
} from "@stricli/core";
import { buildText, currentBuild } from "../src/config/version.ts";
import { clientCommands, type Entry, groups, serverCommands, type Target } from "./commands.ts";
import type { CliContext } from "./frame/context.ts";
import { exitCodeOfFrame, exitCodes, messageOf, ownObject, UsageError } from "./frame/failures.ts";
import { programHelp, routeHelp } from "./frame/help.ts";
import { safeJson } from "./frame/text.ts";

/** A command that this line does not use: lists have its name and its brief. */
const unused = (brief: string): Target =>
  buildCommand({ docs: { brief }, parameters: {}, func: () => undefined });

/** A route has the help of this program, as a command has. */
const withHelp = (target: Target): Target =>
  "getAllEntries" in target ? { ...target, formatHelp: (args) => routeHelp(target, args) } : target;

async function routesOf(commands: Readonly<Record<string, Entry>>, word: string | undefined) {
  const routes = Object.entries(commands).map(async ([name, { brief, load }]) => {
    return [name, name === word ? withHelp(await load()) : unused(brief)] as const;
  });
  return Object.fromEntries(await Promise.all(routes));
}

const { exceptionWhileParsingArguments, noCommandRegisteredForInput } = text_en;

/** Names the flag of a wrong choice, which stricli's own text does not. */
const wrongArguments: typeof exceptionWhileParsingArguments = function (error, hasColours) {
  if (!(error instanceof EnumValidationError))
    return exceptionWhileParsingArguments.call(this, error, hasColours);
  return `--${error.externalFlagName}: must be one of ${error.values.join(", ")}`;
};

/**
 * Whether a line wants JSON. It is known before the line is parsed, so that a line that is not valid is
 * refused as JSON too.
 */
function wantsJson(inputs: readonly string[]): boolean {
  const end = inputs.indexOf("--");
  return inputs
    .slice(0, end === -1 ? inputs.length : end)
    .some((input) => input === "--json" || /^--jq(=|$)/.test(input));
}

/** The refusal of a command line, as text or as JSON. */
const refusal = (isJson: boolean, message: string): string =>
  isJson ? safeJson({ error: ownObject(new UsageError(message)) }) : message;

const description = [
  "The program of the Agent Task Platform",
  "Commands under SERVER work on the server: they need its settings, in the environment or a file, and open its database. The others call the API of an installation: that of --profile, else of ATP_URL and ATP_KEY, else of the last login. Where both have a command of the same name, that on the server begins with server-.",
];
const examples = [
  "atp serve",
  "atp key create --name laptop",
  "atp login https://agents.example.com",
  'atp task create "Compare the three offers" --file offers.pdf --watch',
];

/** The application for a line. Only the module of its command is loaded. */
async function applicationFor(inputs: readonly string[]): Promise<Application<CliContext>> {
  const [word] = inputs;
  const isJson = wantsJson(inputs);
  const all = { ...clientCommands, ...serverCommands };
  const routes = buildRouteMap({
    docs: { brief: "The program of the Agent Task Platform" },
    routes: { ...(await routesOf(clientCommands, word)), ...(await routesOf(serverCommands, word)) },
  });
  const rows = Object.entries(groups).map(
    ([title, names]) => [title, names.map((name) => [name, all[name]?.brief ?? ""] as const)] as const,
  );
  const root: typeof routes = {
    ...routes,
    formatHelp: (args) => programHelp(description, Object.fromEntries(rows), examples, args),
  };
  return buildApplication(root, {
    name: "atp",
    versionInfo: { getCurrentVersion: async () => buildText(await currentBuild()) },
    scanner: { caseStyle: "original", allowArgumentEscapeSequence: true },
    documentation: { onlyRequiredInUsageLine: true, disableAnsiColor: isJson },
    localization: {
      text: {
        ...text_en,
        exceptionWhileParsingArguments(...given) {
          return refusal(isJson, wrongArguments.apply(this, given));
        },
        noCommandRegisteredForInput(...given) {
          return refusal(isJson, noCommandRegisteredForInput.apply(this, given));
        },
        exceptionWhileRunningCommand: messageOf,
      },
    },
    determineExitCode: () => exitCodes.failed,
  });
}

/** Runs a command line and returns its exit code, 0 or one of `exitCodes`. */
export async function runCli(inputs: readonly string[], context: CliContext): Promise<number> {
  if (inputs[0] === "__complete") return await complete(inputs.slice(1), context);
  const application = await applicationFor(inputs);
  const missing = inputs.length === 1 ? subcommands(application.root, [...inputs, ""], false) : [];
  if (missing.length > 0) {
    const message = `atp ${inputs[0]} needs one of ${missing.join(", ")}; --help explains them`;
    context.process.stderr.write(`${refusal(wantsJson(inputs), message)}\n`);
    return exitCodes.usage;
  }
  await run(application, inputs, context);
  return exitCodeOfFrame(context.process.exitCode);
}

/**
 * Writes the words that can follow, one a line. Scripts of shells call it; the last input is the word that is
 * completed.
 */
async function complete(inputs: readonly string[], context: CliContext): Promise<number> {
  const env = { ...context.process.env, ATP_COMPLETED_LINE: inputs.join("\n") };
  const application = await applicationFor(inputs);
  const found = await proposeCompletions(application, [...inputs], {
    ...context,
    process: { ...context.process, env },
  });
  const last = inputs.at(-1) ?? "";
  const proposed = [...subcommands(application.root, inputs), ...found.map(({ completion }) => completion)];
  const words = [...new Set(proposed)].filter((word) => word.startsWith(last));
  if (words.length > 0) context.process.stdout.write(`${words.join("\n")}\n`);
  return 0;
}

/**
 * The second words of a command. Stricli does not propose them where the word may be absent, as in `atp key`.
 *
 * @param optional whether to return them there too
 */
function subcommands(
  root: Target,
  [word = "", ...more]: readonly string[],
  optional = true,
): readonly string[] {
  const target =
    "getAllEntries" in root && more.length === 1 ? root.getRoutingTargetForInput(word) : undefined;
  if (
    target === undefined ||
    !("getAllEntries" in target) ||
    (!optional && target.getDefaultCommand() !== undefined)
  )
    return [];
  return target.getAllEntries().map(({ name }) => name.original);
}
