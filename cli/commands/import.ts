import { errorText } from "../frame/api-failures.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { type ClientFlags, switchFlag, textFlag } from "../frame/parameters.ts";
import { copyAll } from "../import/copy.ts";
import { Report } from "../import/report.ts";
import { openSource, type Source, sourceOrigin } from "../import/source.ts";

interface ImportFlags extends ClientFlags {
  readonly from?: string;
  readonly key?: string;
  readonly "no-files"?: boolean;
  readonly "no-webhooks"?: boolean;
  readonly "dry-run"?: boolean;
}

/** Counts what the source lists. Nothing is copied. */
async function count(source: Source) {
  const counted = { projects: 0, tasks: 0, webhooks: 0 };
  for await (const _ of source.projects()) counted.projects += 1;
  for await (const _ of source.tasks()) counted.tasks += 1;
  for await (const _ of source.webhooks()) counted.webhooks += 1;
  return counted;
}

/** Writes progress on a terminal, after each object. */
function progressOf({ context, print }: Cli) {
  const { stderr } = context.process;
  const isShown = stderr.isTTY === true && !print.isJson;
  return {
    show: ({ counts: { task }, events }: Report) =>
      isShown &&
      stderr.write(`\r${task.copied} tasks copied, ${task.present} present, ${events} events\u001b[K`),
    end: () => isShown && stderr.write("\r\u001b[K"),
  };
}

async function run(cli: Cli, flags: ImportFlags): Promise<void> {
  const { context, print } = cli;
  if (flags.from === undefined)
    throw new UsageError("--from: is required, the address of the server to copy from");
  const key = flags.key ?? context.process.env["SOURCE_KEY"];
  if (!key)
    throw new UsageError("--key: is required, or SOURCE_KEY, a general API key of the server to copy from");
  const source = openSource(context, sourceOrigin(flags.from), key);
  if (flags["dry-run"]) {
    const counted = await count(source);
    const text = `${counted.projects} projects, ${counted.tasks} tasks, ${counted.webhooks} webhooks at ${source.origin}; nothing was copied`;
    return print.result({ origin: source.origin, ...counted }, text);
  }
  const report = new Report();
  const progress = progressOf(cli);
  const choice = { files: !flags["no-files"], webhooks: !flags["no-webhooks"] };
  const ended = copyAll(
    { context, source, target: cli.client(), choice, onProgress: progress.show },
    report,
  ).finally(progress.end);
  const error = await ended.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  print.result(report.toObject(source.origin), () => report.toText(source.origin, context.now() / 1000));
  if (error !== undefined)
    throw new CommandError(`the import has stopped: ${errorText(error)}\nRun the command again to continue.`);
  if (report.total("failed") > 0) context.process.exitCode = 1;
}

export const importCommand = command({
  brief: "Copy projects, tasks, files and webhooks from another server",
  about:
    "Copies into the account of the current installation. Only the owner of a space can import. The command can be repeated: it continues where an earlier run has ended, and copies nothing twice. The key is sent to the server of --from only.",
  examples: [
    "SOURCE_KEY=sk-… atp import --from https://agents.example.com",
    "atp import --from https://agents.example.com --dry-run",
  ],
  parameters: {
    flags: {
      ...clientFlags,
      from: textFlag("Address of the server to copy from", "URL"),
      key: textFlag(
        "General API key of that server; better in SOURCE_KEY, which other users of the machine do not see",
        "KEY",
      ),
      "no-files": switchFlag("Copy no bytes of files"),
      "no-webhooks": switchFlag("Copy no webhooks"),
      "dry-run": switchFlag("Only count what would be copied"),
    },
  },
  run,
});
