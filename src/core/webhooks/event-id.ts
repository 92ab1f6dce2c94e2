import type { WebhookEvent } from "./delivery.ts";

/**
 * Makes ids of a task's events, `<type>_<task id>_<seconds>` (contract/decisions.md 41): two of a type within one second
 * get different ones, for the seconds are raised beyond those of the last one.
 *
 * @param last the greatest id of each type so far.
 */
export function idsAfter(
  last: readonly Pick<WebhookEvent, "id" | "type">[],
): (type: WebhookEvent["type"], taskId: string, now: number) => string {
  const seconds = new Map(last.map(({ type, id }) => [type, Number(id.slice(id.lastIndexOf("_") + 1))]));
  return (type, taskId, now) => {
    const next = Math.max(Math.floor(now / 1000), (seconds.get(type) ?? 0) + 1);
    seconds.set(type, next);
    return `${type}_${taskId}_${next}`;
  };
}
