import type { Clock } from "../clock.ts";
import { invalidArgument } from "../failure.ts";
import type { AttemptResult, SendWebhook } from "./delivery.ts";
import { type BodyParts, encodeBody, type Notification } from "./notifications.ts";
import type { Webhook, WebhookEventType } from "./webhook.ts";

export type TestTarget = Parameters<SendWebhook>[0] & Pick<Webhook, "id">;

/** Signed test requests, which report no event (spec/webhooks.md 11). */
export interface TestRequests {
  /**
   * Sends a request of the type `webhook_test`, or a sample of another type (spec/api.md 8.93), and returns
   * its result.
   */
  send(webhook: TestTarget, type?: WebhookEventType): Promise<AttemptResult>;
  /**
   * Sends a request of the type `webhook_test`, and after a 4xx response a second one with the form of
   * `task_created`: many receivers refuse unknown types (spec/decisions.md 47).
   *
   * @throws Failure `invalid_argument` at `path` unless one of them had a 2xx response in time.
   */
  pass(webhook: TestTarget, path: string): Promise<void>;
}

export interface TestRequestParts {
  readonly send: SendWebhook;
  readonly clock: Pick<Clock, "now">;
  /** The base URL of task pages, without a trailing slash. */
  readonly appUrl: BodyParts["appUrl"];
}

export function testRequests({ send, clock, appUrl }: TestRequestParts): TestRequests {
  const sample = (webhook: TestTarget, type: WebhookEventType) =>
    send(webhook, sampleEvent(webhook.id, type, clock.now(), appUrl));
  const test = (webhook: TestTarget, type?: WebhookEventType) =>
    type === undefined ? send(webhook, testEvent(webhook.id, clock.now())) : sample(webhook, type);
  return {
    send: test,
    async pass(webhook, path) {
      const first = await test(webhook);
      if (first.delivered) return;
      if (!isClientError(first)) throw invalidArgument(path, faultOf(first, "the test request"));
      const second = await sample(webhook, "task_created");
      if (!second.delivered)
        throw invalidArgument(
          path,
          `${faultOf(first, "webhook_test")}; ${faultOf(second, "the same test as task_created")}`,
        );
    },
  };
}

const isClientError = ({ status }: AttemptResult): boolean =>
  status !== null && status >= 400 && status < 500;

const unixSeconds = (now: number): number => Math.floor(now / 1000);

function testEvent(webhookId: string, now: number) {
  const id = `webhook_test_${webhookId}_${unixSeconds(now)}`;
  return { id, body: JSON.stringify({ event_id: id, event_type: "webhook_test" }) };
}

const samples: Readonly<Record<WebhookEventType, Notification>> = {
  task_created: { type: "task_created", seq: 1 },
  task_progress: { type: "task_progress", seq: 2, message: "A step of a plan" },
  task_stopped: {
    type: "task_stopped",
    seq: 3,
    message: "A webhook test has finished.",
    stopReason: "finish",
  },
  task_failed: { type: "task_failed", seq: 3, message: "A webhook test has failed." },
  task_cancelled: { type: "task_cancelled", seq: 3, message: "A webhook test was stopped." },
};

/** The body of a real event of this type. Its task id is the webhook's id, which no task has. */
function sampleEvent(webhookId: string, type: WebhookEventType, now: number, appUrl: string) {
  const id = `webhook_test_${type}_${webhookId}_${unixSeconds(now)}`;
  const content = {
    id,
    notification: samples[type],
    task: { id: webhookId, title: "Webhook test", metadata: {} },
    attachments: [],
  };
  return { id, body: encodeBody(content, { appUrl, link: () => "" }) };
}

/** Contains only the status of the response: the caller may have no right to read the response. */
function faultOf({ status, failure }: AttemptResult, what: string): string {
  if (failure === "address_refused") return "the address is not public";
  return status === null
    ? `the receiver did not answer ${what}: ${failure}`
    : `the receiver answered ${what} with ${status}, not with 2xx`;
}
