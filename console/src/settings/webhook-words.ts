import { WebhookEventType } from "#proto/webhook/v2/webhook_pb.ts";
import { titleOf, words } from "../words.ts";

const titles = words(
  {
    0: "Test request",
    1: "Task created",
    2: "Progress",
    3: "Task done or waiting",
    4: "Task failed",
    5: "Task stopped by its user",
  },
  {
    0: "Testanfrage",
    1: "Aufgabe erstellt",
    2: "Fortschritt",
    3: "Aufgabe fertig oder wartend",
    4: "Aufgabe fehlgeschlagen",
    5: "Aufgabe vom Benutzer angehalten",
  },
);

/** The types of event that a webhook can get, in the order of a task. */
export const eventTypes = [
  WebhookEventType.TASK_CREATED,
  WebhookEventType.TASK_PROGRESS,
  WebhookEventType.TASK_STOPPED,
  WebhookEventType.TASK_FAILED,
  WebhookEventType.TASK_CANCELLED,
] as const;

/** The title of a type of event. */
export const eventTitle = (type: WebhookEventType): string => titleOf(titles, type);
