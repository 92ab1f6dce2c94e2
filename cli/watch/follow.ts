import type { Client, Task } from "../../packages/client/src/index.ts";
import { isInteractive } from "../frame/ask.ts";
import type { Cli } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import { clean, oneLine } from "../frame/text.ts";
import { askableAct, confirmCommand, shownAct, whyNotAsked } from "./act.ts";
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
    const act = waits && !isQuestion(waits) ? askableAct(waits) : "";
    if (waits && asks && act !== null) {
      view.pause();
      await decide(cli.context, client, task, waits, act);
      continue;
    }
    view.end(task);
    throwUnlessFinished(task, asks);
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

function throwUnlessFinished(task: Task, isOnTerminal: boolean): void {
  const { id, status, outcome, status_detail: waits, brief = "" } = task;
  if (outcome === "finished") return;
  if (status !== "waiting" || !waits)
    throw new CommandError(`the task ${outcome === "stopped" ? "was stopped" : "failed"}: ${oneLine(brief)}`);
  if (isQuestion(waits))
    throw new CommandError(
      `the task waits for its user: ${clean(waits.waiting_description)}\nContinue with \`atp task answer ${id} TEXT\`.`,
    );
  if (isOnTerminal) throw new CommandError(whyNotAsked(task, waits));
  const way = waits.tool ? `\n\nContinue with \`${confirmCommand(id, waits)}\`.` : "";
  throw new CommandError(`the task waits for its user.\n\n${shownAct(task, waits)}${way}`);
}
