import type { Clock } from "../clock.ts";
import { invalid } from "../failure.ts";
import { type BodyParts, bodyOf } from "./bodies.ts";
import type { SendWebhook, Sent } from "./send.ts";
import type { Webhook } from "./webhook.ts";

/** What a test request needs to know of a webhook. */
export type Tested = Parameters<SendWebhook>[0] & Pick<Webhook, "id">;

/** Signed requests that tell of nothing (contract/webhooks.md 11). */
export interface TestRequests {
  /** Sends one of the type `webhook_test`, and answers how it went. */
  send(webhook: Tested): Promise<Sent>;
  /**
   * Sends one of the type `webhook_test`, and after a 4xx one more with the form of `task_created`: many receivers
   * refuse a type that they do not know (contract/decisions.md 47).
   *
   * @throws Failure `invalid` at `path` unless one of them was answered with 2xx in time.
   */
  pass(webhook: Tested, path: string): Promise<void>;
}

/** What test requests are made with. */
export interface TestRequestParts {
  readonly send: SendWebhook;
  readonly clock: Pick<Clock, "now">;
  /** Where people open tasks; no slash at its end. */
  readonly appUrl: BodyParts["appUrl"];
}

export function testRequests({ send, clock, appUrl }: TestRequestParts): TestRequests {
  const test = (webhook: Tested) => send(webhook, testEvent(webhook.id, clock.now()));
  return {
    send: test,
    async pass(webhook, path) {
      const first = await test(webhook);
      if (first.delivered) return;
      if (!isClientError(first)) throw invalid(path, flawOf(first, "the test request"));
      const second = await send(webhook, taskCreatedEvent(webhook.id, clock.now(), appUrl));
      if (!second.delivered) throw invalid(path, `${flawOf(first, "webhook_test")}; ${flawOf(second, "the same test as task_created")}`);
    },
  };
}

const isClientError = ({ status }: Sent): boolean => status !== null && status >= 400 && status < 500;

const unixSeconds = (now: number): number => Math.floor(now / 1000);

function testEvent(webhookId: string, now: number) {
  const id = `webhook_test_${webhookId}_${unixSeconds(now)}`;
  return { id, body: JSON.stringify({ event_id: id, event_type: "webhook_test" }) };
}

/** The body of a real `task_created`, of a task with the webhook's id, which no task has. */
function taskCreatedEvent(webhookId: string, now: number, appUrl: string) {
  const id = `webhook_test_task_created_${webhookId}_${unixSeconds(now)}`;
  const told = { id, telling: { type: "task_created", seq: 1 }, task: { id: webhookId, title: "Webhook test" }, attachments: [] } as const;
  return { id, body: bodyOf(told, { appUrl, link: () => "" }) };
}

/** Only the status of the receiver's answer: the caller may have no right to read what the receiver sends. */
function flawOf({ status, failure }: Sent, what: string): string {
  if (failure === "address_refused") return "the address is not public";
  return status === null ? `the receiver did not answer ${what}: ${failure}` : `the receiver answered ${what} with ${status}, not with 2xx`;
}
