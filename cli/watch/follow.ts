import {
  type Client,
  isQuestion,
  type StatusDetail,
  type Task,
  type TaskEvent,
} from "../../packages/client/src/index.ts";
import { isInteractive } from "../frame/ask.ts";
import type { Cli } from "../frame/command.ts";
import { CommandError, interrupted, ownKind } from "../frame/failures.ts";
import { clean, oneLine } from "../frame/text.ts";
import { askableAct, confirmCommand, shownAct, whyNotAsked } from "./act.ts";
import { decide } from "./decide.ts";
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
  if (print.isTerminal && process.env["TERM"] !== "dumb")
    return liveView(liveArea(process.stdout), print.style);
  return plainView((line) => void process.stdout.write(`${line}\n`));
}

/**
 * Shows a task until it is settled. On a terminal, what it waits for is asked, and the view continues.
 *
 * @throws CommandError unless the task has finished; after Ctrl-C it says how to come back
 */
export async function follow(
  cli: Cli,
  client: Client,
  taskId: string,
  { afterSeq = 0, staysOpen = false }: FollowOptions = {},
): Promise<void> {
  const view = viewOf(cli);
  const asks = isInteractive(cli.context) && !cli.print.isJson;
  const reads = readMarks(view.read);
  let seq = afterSeq;
  for (;;) {
    await showUntilSettled();
    const task = await client.tasks.get(taskId).detail();
    // A message that was sent in between has started the next turn.
    if (task.status === "running") continue;
    const waits = task.status_detail;
    const act = waits && !isQuestion(waits) ? askableAct(waits) : "";
    if (waits && asks && act !== null) {
      view.pause();
      await decide(cli.context, client, task, waits, act).catch((error: unknown) => {
        throw ownKind(error) === "interrupted" ? left() : error;
      });
      continue;
    }
    view.end(task);
    throwUnlessFinished(task, asks);
    return;
  }

  function left(): CommandError {
    const way = `atp task watch ${taskId}${seq > 0 ? ` --after ${seq}` : ""}`;
    return interrupted(`The task continues. Watch it again with \`${way}\`.`, {
      task_id: taskId,
      command: way,
    });
  }

  /** @throws CommandError after Ctrl-C */
  async function showUntilSettled(): Promise<void> {
    const leaving = new AbortController();
    const end = cli.context.onInterrupt(() => leaving.abort());
    try {
      const options = {
        afterSeq: seq,
        deltas: !cli.print.isJson,
        untilSettled: !staysOpen,
        signal: leaving.signal,
        onRead: reads.to,
      };
      for await (const event of client.tasks.watch(taskId, options)) {
        if (event.type !== "text_delta") {
          seq = event.seq;
          reads.add(event);
        }
        view.show(event);
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      view.pause();
      throw left();
    } finally {
      end();
    }
  }
}

/** Reports each message that the agent has read while it worked. A message that begins a turn is not one. */
function readMarks(report: () => void) {
  let sent: readonly number[] = [];
  return {
    add({ type, seq }: TaskEvent): void {
      if (type === "user_message") sent = [...sent, seq];
      if (type === "status_update") sent = sent.filter((before) => before !== seq - 1);
    },
    to(readSeq: number): void {
      if (sent.some((seq) => seq <= readSeq)) report();
      sent = sent.filter((seq) => seq > readSeq);
    },
  };
}

function throwUnlessFinished(task: Task, isOnTerminal: boolean): void {
  const { id, status, outcome, status_detail: statusDetail, brief = "" } = task;
  if (outcome === "finished") return;
  const facts = { task_id: id };
  if (status !== "waiting" || !statusDetail)
    throw new CommandError(
      `the task ${outcome === "stopped" ? "was stopped" : "failed"}: ${oneLine(brief)}`,
      "failed",
      facts,
    );
  throw new CommandError(waitText(task, statusDetail, isOnTerminal), "waits", {
    ...facts,
    event_id: statusDetail.waiting_for_event_id,
  });
}

/** What the task waits for, and the command that continues it. */
function waitText(task: Task, waits: StatusDetail, isOnTerminal: boolean): string {
  if (isQuestion(waits))
    return `the task waits for its user: ${clean(waits.waiting_description)}\nContinue with \`atp task answer ${task.id} TEXT\`.`;
  if (isOnTerminal) return whyNotAsked(task, waits);
  const way = waits.tool ? `\n\nContinue with \`${confirmCommand(task.id, waits)}\`.` : "";
  return `the task waits for its user.\n\n${shownAct(task, waits)}${way}`;
}
