import type { Task } from "../tasks/task.ts";
import type { Delivery, WebhookEvent } from "./delivery.ts";
import type { Webhook } from "./webhook.ts";

/** Somebody who is told of a task, and of what. */
export type Listener = Pick<Webhook, "id" | "eventTypes">;

/** Webhook events as rows, each with the deliveries of it. */
export interface WebhookEventRows {
  /** The active webhooks that a task is told to: those of its account in its space, and that of the app that made it. */
  listeners(task: Pick<Task, "accountId" | "spaceId" | "clientId">): Promise<readonly Listener[]>;
  /** The greatest id of each type that a task's events have so far. */
  lastIds(taskId: string): Promise<readonly Pick<WebhookEvent, "id" | "type">[]>;
  /** Writes events with the deliveries of them; at least one of each. */
  insert(events: readonly WebhookEvent[], deliveries: readonly Delivery[]): Promise<void>;
  /**
   * Erases the bodies of a task's events that are on their way to nobody: the task is deleted in the same change
   * (contract/decisions.md 14). Those of the others go by `settled`.
   */
  forget(taskId: string): Promise<void>;
  /**
   * Erases the bodies of those of these events whose task is deleted and that are on their way to nobody any more: for
   * whoever has settled deliveries of them, later in the same change.
   */
  settled(eventIds: readonly string[]): Promise<void>;
}
