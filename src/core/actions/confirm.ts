import type { Caller } from "../caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { JsonObject } from "../json.ts";
import type { Tx } from "../store.ts";
import type { Backlog } from "../tasks/backlog.ts";
import { eventId, seqOf } from "../tasks/event.ts";
import { decided } from "../tasks/lifecycle.ts";
import type { TaskSteps } from "../tasks/steps.ts";
import type { Task } from "../tasks/task.ts";
import { holdMember } from "../teams/hold.ts";
import type { Action } from "./action.ts";
import { decide, inputOr, shownInput, silences } from "./decide.ts";
import { isQuestion } from "./kind.ts";
import { sealInput } from "./sealed.ts";

/** What became of a decision. */
export interface Confirmation {
  readonly taskId: string;
  /** False: the input decided nothing, and the task still waits. */
  readonly confirmed: boolean;
}

/** The caller's answer to a task that waits for an approval. */
export interface Confirmations {
  /**
   * task.confirmAction (contract/v2.md 8.9, 9.3): exactly one decision on an action takes effect.
   *
   * @param input absent: accepts, where `accept` is the only required member.
   * @throws Failure `absent` for an unknown task or event, `precondition` for an event that is not waited for (any more),
   * `invalid` for a question, or an input that does not fit.
   */
  confirm(tx: Tx, caller: Caller, id: string, event: string, input: JsonObject | undefined): Promise<Confirmation>;
}

export function confirmations(clock: Clock, cipher: Cipher, backlog: Pick<Backlog, "enter">, steps: TaskSteps): Confirmations {
  async function decideOn(tx: Tx, task: Task, action: Action, input: JsonObject, accepted: boolean): Promise<void> {
    const { kind } = action;
    if (kind === "needConnectMyBrowser") await tx.means.set(task, { browserId: accepted ? await onlineOf(tx, task, input) : null });
    const allowed = silences(kind, input) ? { allowed: [...task.allowed, kind] } : {};
    await tx.actions.decide(task.id, action.seq, accepted ? "accepted" : "cancelled", sealInput(cipher, action, input));
    const { set, events } = decided(action, accepted, shownInput(kind, input), clock.now());
    await steps.advance(tx, task.id, { ...set, ...allowed }, events);
    await steps.enqueue(tx, task);
  }

  return {
    async confirm(tx, caller, id, event, given) {
      await holdMember(tx, caller);
      const task = await steps.locked(tx, caller, id);
      tx.audit.note({ subject: task.id });
      const action = await waitedFor(tx, task, event);
      if (isQuestion(action.kind)) throw invalid("event_id", "is a question: answer it with task.sendMessage");
      const input = inputOr(action, given);
      const decision = decide(action, input);
      if (decision === "undecided") return { taskId: task.id, confirmed: false };
      tx.audit.note({ after: { kind: action.kind, decision } });
      await checkIndices(tx, action, input);
      backlog.enter();
      await decideOn(tx, task, action, input, decision === "accepted");
      return { taskId: task.id, confirmed: true };
    },
  };
}

/** The action that the task waits for, if it is the one that the caller means. */
async function waitedFor(tx: Tx, task: Task, event: string): Promise<Action> {
  const action = task.status === "waiting" ? await tx.actions.pending(task.id) : null;
  if (action && eventId(task.id, action.seq) === event) return action;
  const seq = seqOf(task.id, event);
  if (seq === undefined || seq > task.lastSeq) throw absent("event", "event_id");
  throw new Failure("precondition", "the task does not wait for this event");
}

/** The selected browser: the task's for this turn and later ones, until another is selected or none is wanted (contract/v2.md 9.4). */
async function onlineOf(tx: Tx, task: Task, { client_id: id }: JsonObject): Promise<string> {
  const browser = typeof id === "string" ? await tx.browsers.find(task, id) : null;
  if (!browser) throw invalid("input.client_id", "is no browser that is online");
  return browser.id;
}

/** A decision on some mails only names mails that there are. */
async function checkIndices(tx: Tx, { taskId, seq }: Action, { indices }: JsonObject): Promise<void> {
  if (!Array.isArray(indices)) return;
  const [event] = await tx.events.list(taskId, { afterSeq: seq - 1, beforeSeq: seq + 1, order: "asc", limit: 1, verbose: true });
  const messages = event?.type === "tool_used" ? event.payload.params?.["messages"] : undefined;
  const count = Array.isArray(messages) ? messages.length : 0;
  const stray = indices.findIndex((index) => Number(index) >= count);
  if (stray >= 0) throw invalid(`input.indices[${stray}]`, `must be the position of one of the ${count} messages`);
}
