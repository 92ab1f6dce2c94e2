import { type Caller, lockActiveMember } from "../accounts/caller.ts";
import {
  type Action,
  allowance,
  decide,
  decidesLaterActions,
  inputOrAccept,
  redactInput,
  sealInput,
} from "../actions/action.ts";
import { isQuestion } from "../actions/kind.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { JsonObject } from "../json.ts";
import type { PublishTask, Tx } from "../store.ts";
import type { Backlog } from "../tasks/backlog.ts";
import { type EventPayloads, eventId, parseEventId } from "../tasks/event.ts";
import { continueAfterDecision } from "../tasks/lifecycle.ts";
import type { TaskSteps } from "../tasks/steps.ts";
import type { Task } from "../tasks/task.ts";
import { createProposed } from "./approve-schedule.ts";
import type { Schedules } from "./manage-schedules.ts";

/** The result of a decision. */
export interface Confirmation {
  readonly taskId: string;
  /** False: the input made no decision, and the task still waits. */
  readonly confirmed: boolean;
}

/** The caller's decisions on tasks that wait for an approval. */
export interface Confirmations {
  /**
   * task.confirmAction (spec/api.md 8.9, 9.3): exactly one decision on an action takes effect.
   *
   * @param input absent: accepts, if `accept` is the only required member.
   * @throws Failure `not_found` for an unknown task or event, `failed_precondition` for an event that the
   * task does not wait for (or no longer), `invalid_argument` for a question, or an input that does not
   * conform; for a proposed schedule those of schedule.create.
   */
  confirm(
    tx: Tx,
    caller: Caller,
    id: string,
    event: string,
    input: JsonObject | undefined,
  ): Promise<Confirmation>;
}

export interface ConfirmationParts {
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly backlog: Pick<Backlog, "add">;
  readonly steps: TaskSteps;
  readonly publishTask: PublishTask;
  readonly schedules: Pick<Schedules, "create">;
}

export function confirmations({
  clock,
  cipher,
  backlog,
  steps,
  publishTask,
  schedules,
}: ConfirmationParts): Confirmations {
  async function decideOn(
    tx: Tx,
    task: Task,
    action: Action,
    decided: JsonObject,
    accepted: boolean,
  ): Promise<void> {
    const { kind } = action;
    const input =
      accepted && kind === "scheduleCreate"
        ? { ...decided, schedule_id: await createSchedule(tx, task, action) }
        : decided;
    if (kind === "needConnectMyBrowser")
      await tx.taskResources.set(task, {
        browserId: accepted ? await findOnlineBrowser(tx, task, input) : null,
      });
    const asked = await requestOf(tx, action);
    const later = decidesLaterActions(kind, input) ? allowance(kind, asked) : null;
    const allowed = later === null ? {} : { allowed: [...task.allowed, later] };
    await tx.actions.decide(
      task.id,
      action.seq,
      accepted ? "accepted" : "cancelled",
      sealInput(cipher, action, input),
    );
    const shown = redactInput(kind, input);
    const { set, events } = continueAfterDecision(
      { ...action, tool: asked.tool },
      accepted,
      shown,
      clock.now(),
    );
    await steps.enqueue(
      tx,
      await publishTask(tx, await steps.advance(tx, task.id, { ...set, ...allowed }, events)),
    );
  }

  /** Returns its id. The audit row of the decision has it too. */
  async function createSchedule(tx: Tx, task: Task, action: Action): Promise<string> {
    const { id } = await createProposed(tx, schedules, task, (await requestOf(tx, action)).params ?? {});
    tx.audit.note({ subject: task.id, after: { kind: action.kind, decision: "accepted", scheduleId: id } });
    return id;
  }

  return {
    async confirm(tx, caller, id, event, inputOrNone) {
      await lockActiveMember(tx, caller);
      const task = await steps.lock(tx, caller, id);
      tx.audit.note({ subject: task.id });
      const action = await findPending(tx, task, event);
      if (isQuestion(action.kind))
        throw invalidArgument("event_id", "is a question: answer it with task.sendMessage");
      const input = inputOrAccept(action, inputOrNone);
      const decision = decide(action, input);
      if (decision === "undecided") return { taskId: task.id, confirmed: false };
      tx.audit.note({ after: { kind: action.kind, decision } });
      await checkIndices(tx, action, input);
      backlog.add();
      await decideOn(tx, task, action, input, decision === "accepted");
      return { taskId: task.id, confirmed: true };
    },
  };
}

/** The action that the task waits for, if the event id names it. */
async function findPending(tx: Tx, task: Task, event: string): Promise<Action> {
  const action = task.status === "waiting" ? await tx.actions.pending(task.id) : null;
  if (action && eventId(task.id, action.seq) === event) return action;
  const seq = parseEventId(task.id, event);
  if (seq === undefined || seq > task.lastSeq) throw notFound("event", "event_id");
  throw new Failure("failed_precondition", "the task does not wait for this event");
}

/**
 * The selected browser. The task uses it in this and later turns, until another or none is selected
 * (spec/api.md 9.4).
 */
async function findOnlineBrowser(tx: Tx, task: Task, { client_id: clientId }: JsonObject): Promise<string> {
  const browser = typeof clientId === "string" ? await tx.browsers.find(task, clientId) : null;
  if (!browser) throw invalidArgument("input.client_id", "is not an online browser");
  return browser.id;
}

/** The tool and the parameters of a request, as its user sees them. */
async function requestOf(
  tx: Tx,
  { taskId, seq }: Action,
): Promise<Partial<Pick<EventPayloads["tool_used"], "tool" | "params">>> {
  const [event] = await tx.events.list(taskId, {
    afterSeq: seq - 1,
    beforeSeq: seq + 1,
    order: "asc",
    limit: 1,
    verbose: true,
  });
  return event?.type === "tool_used" ? event.payload : {};
}

/** A decision on some of the mails must use existing indices. */
async function checkIndices(tx: Tx, action: Action, { indices }: JsonObject): Promise<void> {
  if (!Array.isArray(indices)) return;
  const messages = (await requestOf(tx, action)).params?.["messages"];
  const count = Array.isArray(messages) ? messages.length : 0;
  const invalid = indices.findIndex((index) => Number(index) >= count);
  if (invalid >= 0)
    throw invalidArgument(
      `input.indices[${invalid}]`,
      `must be the position of one of the ${count} messages`,
    );
}
