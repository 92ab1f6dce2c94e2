import type { DueDelivery } from "../core/webhooks/due.ts";
import { answerMs } from "./send.ts";

/** Whether a due delivery is still to be made; `now` in Unix milliseconds. */
export function isWanted(delivery: DueDelivery, now: number): boolean {
  const { webhook, event, mayReceive } = delivery;
  // A task that was deleted leaves no body (contract/decisions.md 14).
  return webhook !== null && event.body !== "" && mayReceive && !isStale(delivery, now);
}

/**
 * Progress of a task that has stopped is dropped (contract/webhooks.md 9). What is as young as an answer may be late
 * gets its one attempt all the same, or a task that is quickly done would never show any.
 */
const isStale = ({ type, rests, attempts, createdAt }: DueDelivery, now: number): boolean =>
  type === "task_progress" && rests && (attempts > 0 || now - createdAt > answerMs);
