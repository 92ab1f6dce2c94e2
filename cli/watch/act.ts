import type { StatusDetail, Task } from "../../packages/client/src/index.ts";
import { actText, roomMax, type ShownAct } from "../../src/core/actions/act.ts";

/** The action of a wait as text, with all its values; null when the server does not say what it does. */
const actOf = ({
  waiting_for_event_type: waitingForEventType,
  waiting_description: waitingDescription,
  tool,
}: StatusDetail): string | null =>
  // JSON of the server has no undefined members, which the client's type of a JSON object allows.
  actText({ kind: waitingForEventType, description: waitingDescription, tool: tool as ShownAct["tool"] });

/** The action, of any length, for files, pipes and terminals that ask for no decision with it. */
export const shownAct = (task: Task, waits: StatusDetail): string => actOf(waits) ?? unknown(task, waits);

/**
 * The action for a terminal that asks for the decision below it; null when it is unknown or does not stay in
 * view.
 */
export function askableAct(waits: StatusDetail): string | null {
  const text = actOf(waits);
  return text !== null && text.length <= roomMax ? text : null;
}

/** Why a terminal asks for no decision, and where the action is read and decided. */
export function whyNotAsked(task: Task, waits: StatusDetail): string {
  const text = actOf(waits);
  if (text === null) return unknown(task, waits);
  return `the task waits for an approval. It has ${text.length} characters; at most ${roomMax} stay in view here. Read it with \`atp task show ${task.id} | less\`; decide it at ${task.task_url}`;
}

/** The command that decides this action and no other one. */
export const confirmCommand = (
  taskId: string,
  { waiting_for_event_id: waitingForEventId }: StatusDetail,
): string => `atp task confirm ${taskId} --event ${waitingForEventId} --accept`;

const unknown = ({ task_url }: Task, { waiting_for_event_type: kind }: StatusDetail): string =>
  `the task waits for an approval (${kind}), and the server does not say what it does. Decide it at ${task_url}`;
