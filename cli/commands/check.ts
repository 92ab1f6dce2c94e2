import { type Finding, openKit } from "../check/kit.ts";
import { runStories } from "../check/stories.ts";
import { readSecret } from "../frame/ask.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { type ClientFlags, textFlag } from "../frame/parameters.ts";
import { originOf } from "../profiles.ts";

interface CheckFlags extends ClientFlags {
  readonly against?: string;
  readonly key?: string;
  readonly webhook?: string;
}

const columns = [
  { title: "RESULT", text: ({ verdict }: Finding) => verdict },
  { title: "OPERATION OR RULE", text: ({ name }: Finding) => name },
  { title: "REQUESTS", text: ({ requests }: Finding) => requests.length },
  { title: "WHY", text: ({ notes }: Finding) => notes[0] },
];

export const check = command({
  brief: "Compare a server with the specification: each operation works, differs or is missing",
  about:
    "It makes tasks, a file and projects with the name `Contract check`, and deletes what the public API can delete; on other servers the projects remain. Tasks can cost credits. Without --against it checks the installation of the profile. The exit code is 1 when something differs or is missing.",
  examples: [
    "atp check",
    "atp check --against https://api.example.com --key - --webhook https://receiver.example.com/hook",
  ],
  parameters: {
    flags: {
      ...clientFlags,
      against: textFlag("Address of the server", "URL"),
      key: textFlag("Key for --against; - asks for it, or reads it from standard input", "KEY"),
      webhook: textFlag("An address of yours that answers 200, for the operations of webhooks", "URL"),
    },
  },
  run: async (cli: Cli, flags: CheckFlags) => {
    const { print, context } = cli;
    const kit = openKit({
      ...(await targetOf(cli, flags)),
      ...context,
      webhookUrl: flags.webhook,
      onRequest: print.note,
    });
    await runStories(kit, { sleep: context.sleep, webhookUrl: flags.webhook });
    const findings = kit.findings();
    print.list(findings, columns, "");
    const wrong = findings.filter(({ verdict }) => verdict === "differs" || verdict === "missing");
    if (wrong.length > 0)
      throw new CommandError(`${wrong.length} of ${findings.length} differ or are missing`);
  },
});

/** The server, with the key for it: a key is sent only to the address that it was given for. */
async function targetOf(
  cli: Cli,
  { against, key }: CheckFlags,
): Promise<{ readonly origin: string; readonly key: string }> {
  if (against !== undefined && key !== undefined) {
    return { origin: originOf(against), key: key === "-" ? await readSecret(cli.context, "Key: ") : key };
  }
  if (against !== undefined || key !== undefined) throw new UsageError("--against and --key need each other");
  const target = cli.target();
  if (target.key === undefined)
    throw new CommandError("the check needs a key: tokens of an app cannot call every operation");
  return { origin: target.origin, key: target.key };
}
