import type { Client, CreateTask, JsonObject } from "../../packages/client/src/index.ts";
import { fileAt } from "../../packages/client/src/node.ts";
import { readInput } from "../frame/ask.ts";
import { type Cli, clientFlags, command, openCli } from "../frame/command.ts";
import type { CliContext } from "../frame/context.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { parseObject } from "../frame/json-input.ts";
import { argument, type ClientFlags, exactly, switchFlag, textFlag, textsFlag } from "../frame/parameters.ts";
import { inputForAlways, plainInput, sendDecision } from "../watch/decide.ts";
import { follow } from "../watch/follow.ts";
import { showProgress } from "./progress.ts";

/** Ids of the newest tasks, for completion. */
async function proposeTasks(this: CliContext, partial: string): Promise<readonly string[]> {
  try {
    const tasks = await openCli(this, {})
      .client()
      .tasks.list({ limit: 50 }, { retries: 0, timeoutMs: 2_000 })
      .all(50);
    return tasks.map(({ id }) => id).filter((id) => id.startsWith(partial));
  } catch {
    // A shell that completes a line has no place for errors.
    return [];
  }
}
export const taskId = argument("Id of the task", "ID", proposeTasks);

/** A message of a text, `-` for standard input, and of files that are uploaded first. */
export async function messageOf(
  cli: Cli,
  client: Client,
  text: string,
  files: readonly string[],
): Promise<CreateTask["message"]> {
  const content = text === "-" ? await readInput(cli.context) : text;
  const parts = [];
  for (const path of files) {
    const progress = showProgress(cli, path);
    const { id } = await client.files.upload(await fileAt(path), { onProgress: progress.show });
    progress.end();
    parts.push({ type: "file", file_id: id } as const);
  }
  return parts.length === 0 ? content : { content: [{ type: "text", text: content }, ...parts] };
}

export const fileFlag = textsFlag("File to attach; may be given several times", "PATH");

interface SendFlags extends ClientFlags {
  readonly watch?: boolean;
  readonly file?: readonly string[];
  readonly later?: boolean;
}
const messageFlags = {
  ...clientFlags,
  watch: switchFlag("Follow the task until it finishes, fails or waits"),
};

/** Watches the events after the present ones, if the flag is set. */
async function sendAndWatch(
  cli: Cli,
  client: Client,
  id: string,
  isWatched: boolean,
  send: () => Promise<void>,
): Promise<void> {
  const { last_seq: lastSeq } = isWatched ? await client.tasks.get(id).detail() : { last_seq: 0 };
  await send();
  if (isWatched) await follow(cli, client, id, { afterSeq: lastSeq });
  else cli.print.result({ task_id: id, ok: true }, id);
}

export const send = command({
  brief: "Send a message to a task",
  examples: ['atp task send 2hVt4kHwYm3bQpXr8sLdFz "Now in German" --watch'],
  parameters: {
    flags: {
      ...messageFlags,
      file: fileFlag,
      later: switchFlag("Do not interrupt an agent that works: it gets the message when its turn has ended"),
    },
    aliases: { w: "watch", f: "file" },
    positional: exactly(taskId, argument("Text of the message; - reads standard input", "TEXT")),
  },
  run: async (cli: Cli, { watch = false, file = [], later = false }: SendFlags, id: string, text: string) => {
    const client = cli.client();
    const message = await messageOf(cli, client, text, file);
    const delivery = later ? ({ delivery: "next_turn" } as const) : {};
    await sendAndWatch(cli, client, id, watch, () => client.tasks.get(id).send(message, delivery));
  },
});

interface AnswerFlags extends ClientFlags {
  readonly watch?: boolean;
}
export const answer = command({
  brief: "Answer the question that a task waits for",
  examples: [
    "atp task answer 2hVt4kHwYm3bQpXr8sLdFz Kitchen",
    "atp task answer 2hVt4kHwYm3bQpXr8sLdFz red blue --watch",
  ],
  parameters: {
    flags: messageFlags,
    aliases: { w: "watch" },
    positional: {
      kind: "array",
      parameter: argument(
        "Id of the task, then the answer; several options are several arguments",
        "ID|TEXT",
        proposeTasks,
      ),
      minimum: 2,
    },
  },
  run: async (cli: Cli, { watch = false }: AnswerFlags, ...words: readonly string[]) => {
    const [id = "", ...answers] = words;
    const client = cli.client();
    const [only = "", ...more] = answers;
    await sendAndWatch(cli, client, id, watch, () =>
      client.tasks.get(id).answer(more.length === 0 ? only : answers),
    );
  },
});

interface ConfirmFlags extends ClientFlags {
  readonly watch?: boolean;
  readonly event?: string;
  readonly accept?: boolean;
  readonly always?: boolean;
  readonly reject?: boolean;
  readonly input?: string;
}
export const confirm = command({
  brief: "Decide the action that a task waits for",
  examples: [
    "atp task confirm 2hVt4kHwYm3bQpXr8sLdFz --event 7XqTzB4nLwRk9cVdMfYgJp --accept --watch",
    "atp task confirm 2hVt4kHwYm3bQpXr8sLdFz --event 7XqTzB4nLwRk9cVdMfYgJp --always",
    `atp task confirm 2hVt4kHwYm3bQpXr8sLdFz --event 7XqTzB4nLwRk9cVdMfYgJp --input '{"accept": true}'`,
  ],
  about:
    "`atp task show ID` shows the action and its event. All but --reject need the event, so that they decide the action that was read, and no later one.",
  parameters: {
    flags: {
      ...messageFlags,
      event: textFlag("Event of the action", "ID"),
      accept: switchFlag("Approve"),
      always: switchFlag("Approve this action and all later ones of its kind in this task"),
      reject: switchFlag("Reject"),
      input: textFlag("The decision in the form of the action's kind", "JSON"),
    },
    aliases: { w: "watch" },
    positional: exactly(taskId),
  },
  run: async (cli: Cli, flags: ConfirmFlags, id: string) => {
    const { accept = false, always = false, reject = false, input, event, watch = false } = flags;
    if (Number(accept) + Number(always) + Number(reject) + Number(input !== undefined) !== 1)
      throw new UsageError("give one of --accept, --always, --reject and --input JSON");
    if (event === undefined && !reject)
      throw new UsageError(`give --event ID: \`atp task show ${id}\` shows the action and its event`);
    const given: JsonObject | undefined = input === undefined ? undefined : parseObject("--input", input);
    const client = cli.client();
    const waits = await client.tasks.get(id).pending();
    if (!waits) throw new CommandError("the task waits for nothing");
    if (event !== undefined && event !== waits.waiting_for_event_id)
      throw new CommandError(`the task waits for another event now. Read it with \`atp task show ${id}\``);
    const decision = given ?? (always ? inputForAlways(waits) : plainInput(waits, accept));
    await sendAndWatch(cli, client, id, watch, async () => {
      if (!(await sendDecision(client, id, waits, decision)))
        throw new CommandError(
          `the action does not run, but the task waits. Say what to do instead with \`atp task send ${id} TEXT\``,
        );
    });
  },
});
