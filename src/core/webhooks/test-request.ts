import type { Clock } from "../clock.ts";
import { invalid } from "../failure.ts";
import type { SendWebhook, Sent } from "./send.ts";
import type { Webhook } from "./webhook.ts";

/** What a test request needs to know of a webhook. */
export type Tested = Parameters<SendWebhook>[0] & Pick<Webhook, "id">;

/** Signed requests that tell of nothing (contract/webhooks.md 11). */
export interface TestRequests {
  /** Sends one, and answers how it went. */
  send(webhook: Tested): Promise<Sent>;
  /** @throws Failure `invalid` at `path` unless it was answered with 2xx in time. */
  pass(webhook: Tested, path: string): Promise<void>;
}

export function testRequests(send: SendWebhook, clock: Pick<Clock, "now">): TestRequests {
  const test = (webhook: Tested) => send(webhook, testEvent(webhook.id, clock.now()));
  return {
    send: test,
    async pass(webhook, path) {
      const sent = await test(webhook);
      if (!sent.delivered) throw invalid(path, flawOf(sent));
    },
  };
}

function testEvent(webhookId: string, now: number) {
  const id = `webhook_test_${webhookId}_${Math.floor(now / 1000)}`;
  return { id, body: JSON.stringify({ event_id: id, event_type: "webhook_test" }) };
}

/** Nothing of what the receiver said but its status: whoever asks need not be who reads there. */
function flawOf({ status, failure }: Sent): string {
  if (failure === "address_refused") return "the address is not public";
  return status === null
    ? `the receiver did not answer the test request: ${failure}`
    : `the receiver answered the test request with ${status}, not with 2xx`;
}
