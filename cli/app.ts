import { readFileSync } from "node:fs";
import { type Application, buildApplication, buildRouteMap, proposeCompletions, run, text_en } from "@stricli/core";
import { api } from "./commands/api.ts";
import { appRoutes } from "./commands/app.ts";
import { check } from "./commands/check.ts";
import { completion } from "./commands/completion.ts";
import { connectorRoutes } from "./commands/connector.ts";
import { exportRoutes } from "./commands/export.ts";
import { fileRoutes } from "./commands/file.ts";
import { importCommand } from "./commands/import.ts";
import { login, logout, whoami } from "./commands/login.ts";
import { profileRoutes } from "./commands/profile.ts";
import { projectRoutes } from "./commands/project.ts";
import { scheduleRoutes } from "./commands/schedule.ts";
import { skillRoutes } from "./commands/skill.ts";
import { taskRoutes } from "./commands/task.ts";
import { usage } from "./commands/usage.ts";
import { webhookRoutes } from "./commands/webhook.ts";
import type { CliContext } from "./frame/context.ts";
import { errorText, exitCodeOf, exitCodeOfFrame } from "./frame/failures.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };

/** All commands. A command of another kind, for example for an operator, is a further route. */
const routes = buildRouteMap({
  docs: {
    brief: "The command line of the Agent Task Platform",
    fullDescription:
      'The command line of the Agent Task Platform\n\nEXAMPLES\n  atp login https://agents.example.com\n  atp task create "Compare the three offers" --file offers.pdf --watch\n  atp task list --status waiting\n\nThe installation is that of --profile, else of ATP_URL and ATP_KEY, else of the last login.',
  },
  routes: {
    login,
    logout,
    whoami,
    profile: profileRoutes,
    task: taskRoutes,
    file: fileRoutes,
    schedule: scheduleRoutes,
    project: projectRoutes,
    webhook: webhookRoutes,
    app: appRoutes,
    connector: connectorRoutes,
    skill: skillRoutes,
    usage,
    export: exportRoutes,
    import: importCommand,
    api,
    check,
    completion,
  },
});

export const application: Application<CliContext> = buildApplication(routes, {
  name: "atp",
  versionInfo: { currentVersion: version },
  scanner: { caseStyle: "original", allowArgumentEscapeSequence: true },
  documentation: { onlyRequiredInUsageLine: true },
  localization: {
    text: { ...text_en, exceptionWhileRunningCommand: (error) => errorText(error) },
  },
  determineExitCode: exitCodeOf,
});

/** Runs a command line and returns its exit code: 0, 1 for a failure, 2 for a command line that is not valid. */
export async function runCli(inputs: readonly string[], context: CliContext): Promise<number> {
  if (inputs[0] === "__complete") return await complete(inputs.slice(1), context);
  await run(application, inputs, context);
  return exitCodeOfFrame(context.process.exitCode);
}

/** Writes the words that can follow, one a line. Scripts of shells call it; the last input is the word that is completed. */
async function complete(inputs: readonly string[], context: CliContext): Promise<number> {
  const env = { ...context.process.env, ATP_COMPLETED_LINE: inputs.join("\n") };
  const found = await proposeCompletions(application, [...inputs], { ...context, process: { ...context.process, env } });
  const last = inputs.at(-1) ?? "";
  const words = found.map(({ completion }) => completion).filter((word) => word.startsWith(last));
  if (words.length > 0) context.process.stdout.write(`${words.join("\n")}\n`);
  return 0;
}
