import type { Client, Task } from "../../packages/client/src/index.ts";
import { isInteractive } from "../frame/ask.ts";
import type { Cli } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import { oneLine } from "../frame/text.ts";
import { decide, isQuestion } from "./decide.ts";
import { liveArea } from "./live-area.ts";
import { liveView } from "./live-view.ts";
import { jsonView, plainView } from "./plain-view.ts";
import type { View } from "./view.ts";

export interface FollowOptions {
  /** Only events with a greater `seq`. */
  readonly afterSeq?: number | undefined;
  /** Continues after the end of a turn, until Ctrl-C. */
  readonly staysOpen?: boolean | undefined;
}

function viewOf({ print, context: { process } }: Cli): View {
  if (print.isJson) return jsonView(print);
  if (print.isTerminal && process.env["TERM"] !== "dumb") return liveView(liveArea(process.stdout), print.style);
  return plainView((line) => void process.stdout.write(`${line}\n`));
}

/**
 * Shows a task until it is settled. On a terminal, what it waits for is asked, and the view continues.
 *
 * @throws CommandError unless the task has finished
 */
export async function follow(
  cli: Cli,
  client: Client,
  taskId: string,
  { afterSeq = 0, staysOpen = false }: FollowOptions = {},
): Promise<void> {
  const view = viewOf(cli);
  const asks = isInteractive(cli.context) && !cli.print.isJson;
  let seq = afterSeq;
  for (;;) {
    const left = await showUntilSettled();
    if (left) return;
    const task = await client.tasks.get(taskId).detail();
    // A message that was sent in between has started the next turn.
    if (task.status === "running") continue;
    const waits = task.status_detail;
    if (waits && asks) {
      view.pause();
      await decide(cli.context, client, taskId, waits);
      continue;
    }
    view.end(task);
    throwUnlessFinished(taskId, task);
    return;
  }

  /** True after Ctrl-C. */
  async function showUntilSettled(): Promise<boolean> {
    const leaving = new AbortController();
    const end = cli.context.onInterrupt(() => leaving.abort());
    try {
      const options = { afterSeq: seq, deltas: !cli.print.isJson, untilSettled: !staysOpen, signal: leaving.signal };
      for await (const event of client.tasks.watch(taskId, options)) {
        if (event.type !== "text_delta") seq = event.seq;
        view.show(event);
      }
      return false;
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      view.pause();
      cli.print.note(`The task continues. Watch it again with \`atp task watch ${taskId}\`.`);
      return true;
    } finally {
      end();
    }
  }
}

function throwUnlessFinished(id: string, { status, outcome, status_detail: waits, brief = "" }: Task): void {
  if (outcome === "finished") return;
  if (status !== "waiting" || !waits)
    throw new CommandError(`the task ${outcome === "stopped" ? "was stopped" : "failed"}: ${oneLine(brief)}`);
  const way = isQuestion(waits) ? `atp task answer ${id} TEXT` : `atp task confirm ${id} --accept`;
  throw new CommandError(`the task waits for its user: ${oneLine(waits.waiting_description)}\nContinue with \`${way}\`.`);
}
