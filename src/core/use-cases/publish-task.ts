import type { PublishTask } from "../store.ts";
import { followSubtask } from "../tasks/parents.ts";
import { type OutboxParts, webhookOutbox } from "../webhooks/outbox.ts";
import { countTaskEnds, type RecordingParts } from "./run-schedules.ts";

/**
 * Publishes the changes of tasks. A2A's push notifications and the watches follow the store's feed instead.
 */
export function taskPublisher(parts: OutboxParts & RecordingParts): PublishTask {
  const writeWebhookEvents = webhookOutbox(parts);
  const countEnds = countTaskEnds(parts);
  return async (tx, written) => {
    await writeWebhookEvents(tx, written);
    await countEnds(tx, written);
    await followSubtask(tx, written);
    return written.task;
  };
}
