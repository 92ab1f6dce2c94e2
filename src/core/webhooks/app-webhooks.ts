import { deferFailure } from "../deferred.ts";
import { Failure } from "../failure.ts";
import type { TeamApp } from "../oauth/app.ts";
import type { Tx } from "../store.ts";
import { newWebhook, type WebhookCreationContext } from "./new-webhook.ts";
import type { TestRequests } from "./test-request.ts";
import { documentedEventTypes, type Webhook } from "./webhook.ts";

export interface AppWebhookParts extends WebhookCreationContext {
  /** For reads before a change. */
  readonly store: Tx;
  readonly tests: TestRequests;
}

/**
 * Sets an app's webhook to a URL, or removes it for null; returns the webhook's id.
 *
 * @throws Failure `invalid_argument` for an address that failed the test, `failed_precondition` for one that
 * was not tested.
 */
export type SetAppWebhook = (tx: Tx, url: string | null) => Promise<string | null>;

/**
 * The webhooks of OAuth apps, one for each app with a URL (spec/webhooks.md 6). A new URL gets a new webhook,
 * so that no event of one address is sent to another.
 */
export interface AppWebhooks {
  /** Before the change: sends the test request when the address is new to the app. */
  prepare(
    app: Pick<TeamApp, "clientId" | "spaceId" | "creatorId">,
    url: string | null,
  ): Promise<SetAppWebhook>;
  remove(tx: Tx, clientId: string): Promise<void>;
}

export function appWebhooks(parts: AppWebhookParts): AppWebhooks {
  const { store, tests, clock } = parts;

  /** The tested new webhook; null when none will be created. */
  async function testNew(
    { clientId, spaceId, creatorId }: Parameters<AppWebhooks["prepare"]>[0],
    url: string | null,
  ): Promise<Webhook | null> {
    const current = await store.webhooks.findOfApp(clientId);
    if (url === null || current?.url === url) return null;
    const eventTypes = current?.eventTypes ?? documentedEventTypes;
    const { webhook: created } = newWebhook(parts, {
      accountId: creatorId,
      spaceId,
      clientId,
      url,
      eventTypes,
    });
    const webhook = { ...created, doubleHash: current?.doubleHash ?? false };
    await tests.pass(webhook, "webhook_url");
    return webhook;
  }

  async function remove(tx: Tx, clientId: string): Promise<void> {
    const current = await tx.webhooks.findOfApp(clientId);
    if (current !== null) await tx.webhooks.tombstone(current.id, clock.now());
  }

  return {
    async prepare(app, requestedUrl) {
      const getTested = await deferFailure(testNew(app, requestedUrl));
      return async (tx, url) => {
        const webhook = getTested();
        const current = await tx.webhooks.findOfApp(app.clientId);
        if (url === (current?.url ?? null)) return current?.id ?? null;
        if (url !== null && url !== webhook?.url)
          throw new Failure("failed_precondition", "the app was changed in the meantime: try again");
        await remove(tx, app.clientId);
        if (url === null || webhook === null) return null;
        await tx.webhooks.insert(webhook);
        return webhook.id;
      };
    },
    remove,
  };
}
