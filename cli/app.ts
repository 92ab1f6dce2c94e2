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
import { clientCommands, type Entry, serverCommands, type Target } from "./commands.ts";
import type { CliContext } from "./frame/context.ts";
import { exitCodeOf, exitCodeOfFrame, messageOf } from "./frame/failures.ts";
import { version } from "./frame/version.ts";

/** Marks commands on the server in lists. */
const mark = "[server] ";

/** A command that this line does not use: lists have its name and its brief. */
const unused = (brief: string): Target => buildCommand({ docs: { brief }, parameters: {}, func: () => undefined });

async function routesOf(commands: Readonly<Record<string, Entry>>, word: string | undefined, before = "") {
  const routes = Object.entries(commands).map(async ([name, { brief, load }]) => {
    return [name, name === word ? await load() : unused(`${before}${brief}`)] as const;
  });
  return Object.fromEntries(await Promise.all(routes));
}

const { exceptionWhileParsingArguments: parsingText } = text_en;

/** Names the flag of a wrong choice, which stricli's own text does not. */
const exceptionWhileParsingArguments: typeof parsingText = function (error, hasColours) {
  if (!(error instanceof EnumValidationError)) return parsingText.call(this, error, hasColours);
  return `--${error.externalFlagName}: must be one of ${error.values.join(", ")}`;
};

/** The application for a line that begins with this word. Only the module of its command is loaded. */
async function applicationFor(word: string | undefined): Promise<Application<CliContext>> {
  const routes = buildRouteMap({
    docs: {
      brief: "The program of the Agent Task Platform",
      fullDescription: `The program of the Agent Task Platform

Commands with [server] work on the server: they need its settings, in the environment or a file, and open its database. The others call the API of an installation: that of --profile, else of ATP_URL and ATP_KEY, else of the last login. Where both have a command of the same name, that on the server begins with server-.

EXAMPLES
  atp serve
  atp key --name laptop
  atp login https://agents.example.com
  atp task create "Compare the three offers" --file offers.pdf --watch`,
    },
    routes: { ...(await routesOf(clientCommands, word)), ...(await routesOf(serverCommands, word, mark)) },
  });
  return buildApplication(routes, {
    name: "atp",
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "original", allowArgumentEscapeSequence: true },
    documentation: { onlyRequiredInUsageLine: true },
    localization: { text: { ...text_en, exceptionWhileParsingArguments, exceptionWhileRunningCommand: messageOf } },
    determineExitCode: exitCodeOf,
  });
}

/** Runs a command line and returns its exit code: 0, 1 for a failure, 2 for a command line that is not valid. */
export async function runCli(inputs: readonly string[], context: CliContext): Promise<number> {
  if (inputs[0] === "__complete") return await complete(inputs.slice(1), context);
  const application = await applicationFor(inputs[0]);
  const missing = inputs.length === 1 ? subcommands(application.root, [...inputs, ""], false) : [];
  if (missing.length > 0) {
    context.process.stderr.write(`atp ${inputs[0]} needs one of ${missing.join(", ")}; --help explains them\n`);
    return 2;
  }
  await run(application, inputs, context);
  return exitCodeOfFrame(context.process.exitCode);
}

/** Writes the words that can follow, one a line. Scripts of shells call it; the last input is the word that is completed. */
async function complete(inputs: readonly string[], context: CliContext): Promise<number> {
  const env = { ...context.process.env, ATP_COMPLETED_LINE: inputs.join("\n") };
  const application = await applicationFor(inputs[0]);
  const found = await proposeCompletions(application, [...inputs], { ...context, process: { ...context.process, env } });
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
function subcommands(root: Target, [word = "", ...more]: readonly string[], optional = true): readonly string[] {
  const target = "getAllEntries" in root && more.length === 1 ? root.getRoutingTargetForInput(word) : undefined;
  if (target === undefined || !("getAllEntries" in target) || (!optional && target.getDefaultCommand() !== undefined)) return [];
  return target.getAllEntries().map(({ name }) => name.original);
}
