import { deferred } from "../deferred.ts";
import { Failure } from "../failure.ts";
import type { OAuthApp } from "../oauth/app.ts";
import type { Tx } from "../store.ts";
import { type MakingWebhooks, newWebhook } from "./new-webhook.ts";
import type { TestRequests } from "./test-request.ts";
import { documentedEventTypes, type Webhook } from "./webhook.ts";

/** What webhooks of apps are made of. */
export interface AppWebhookParts extends MakingWebhooks {
  /** Read before a change. */
  readonly store: Tx;
  readonly tests: TestRequests;
}

/**
 * Makes an app's webhook what the app says now, null for none; answers its id.
 *
 * @throws Failure `invalid` for an address that failed the test, `precondition` for one that was not tested.
 */
export type SetAppWebhook = (tx: Tx, url: string | null) => Promise<string | null>;

/** The webhooks of OAuth apps, one for each that has a URL (contract/webhooks.md 6). What is told to one address is never told to another. */
export interface AppWebhooks {
  /** Before the change: sends the test request to an address that is new to the app. */
  prepare(app: Pick<OAuthApp, "clientId" | "spaceId" | "creatorId">, url: string | null): Promise<SetAppWebhook>;
  /** With its app. */
  remove(tx: Tx, clientId: string): Promise<void>;
}

export function appWebhooks(parts: AppWebhookParts): AppWebhooks {
  const { store, tests, clock } = parts;

  /** The webhook to be; null where nothing is to be made. */
  async function tested(
    { clientId, spaceId, creatorId }: Parameters<AppWebhooks["prepare"]>[0],
    url: string | null,
  ): Promise<Webhook | null> {
    const present = await store.webhooks.ofApp(clientId);
    if (url === null || present?.url === url) return null;
    const eventTypes = present?.eventTypes ?? documentedEventTypes;
    const { webhook: fresh } = newWebhook(parts, { accountId: creatorId, spaceId, clientId, url, eventTypes });
    const webhook = { ...fresh, doubleHash: present?.doubleHash ?? false };
    await tests.pass(webhook, "webhook_url");
    return webhook;
  }

  async function remove(tx: Tx, clientId: string): Promise<void> {
    const present = await tx.webhooks.ofApp(clientId);
    if (present !== null) await tx.webhooks.bury(present.id, clock.now());
  }

  return {
    async prepare(app, wanted) {
      const ready = await deferred(tested(app, wanted));
      return async (tx, url) => {
        const webhook = ready();
        const present = await tx.webhooks.ofApp(app.clientId);
        if (url === (present?.url ?? null)) return present?.id ?? null;
        if (url !== null && url !== webhook?.url) throw new Failure("precondition", "the app was changed meanwhile, try again");
        await remove(tx, app.clientId);
        if (url === null || webhook === null) return null;
        await tx.webhooks.insert(webhook);
        return webhook.id;
      };
    },
    remove,
  };
}
