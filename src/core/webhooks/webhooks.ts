import type { Caller } from "../caller.ts";
import { type Change, deferred } from "../deferred.ts";
import { absent, Failure } from "../failure.ts";
import { editsAllApps } from "../oauth/app.ts";
import type { Tx } from "../store.ts";
import { holdMember } from "../teams/hold.ts";
import { type AddressRules, readAddress } from "./address.ts";
import { type MakingWebhooks, newSecret, newWebhook, type WebhookWithSecret } from "./new-webhook.ts";
import { readWebhookSecret } from "./secret.ts";
import type { Sent } from "./send.ts";
import type { TestRequests } from "./test-request.ts";
import { defaultEventTypes, type Webhook, type WebhookChanges, type WebhookEventType, type WebhookReach, webhooksMax } from "./webhook.ts";

const hourMs = 3_600_000;
/** For so long a replaced secret is good beside the new one (contract/decisions.md 42). */
const overlapMs = 24 * hourMs;

/** What webhooks are made of. */
export interface WebhookParts extends MakingWebhooks {
  /** Read before a change. */
  readonly store: Tx;
  readonly tests: TestRequests;
  readonly rules: AddressRules;
}

/** A webhook to be made. */
export interface WebhookWish {
  readonly url: string;
  /** Empty: the default ones. */
  readonly eventTypes: readonly WebhookEventType[];
  /** The caller's own secret, `whsec_` and base64; undefined: one is made. */
  readonly secret?: string | undefined;
}

/** What is to be changed of a webhook; undefined stays as it is. */
export interface WebhookEdit {
  readonly status: Webhook["status"] | undefined;
  readonly eventTypes: readonly WebhookEventType[] | undefined;
  readonly doubleHash: boolean | undefined;
}

/**
 * Webhooks of the caller's account in the caller's space, and those of apps that the
 * caller may change (contract/webhooks.md 1). Each first half makes the outgoing
 * request, each second half is done in the change (contract/decisions.md 21).
 */
export interface Webhooks {
  /**
   * @throws Failure `invalid` for an address that is not https and public, or fails the test, and for a secret of
   * another form, `exists`, or `exhausted` at 20.
   */
  create(caller: Caller, wanted: WebhookWish): Promise<Change<WebhookWithSecret>>;
  /** The account's own, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly Webhook[]>;
  /** @throws Failure `absent`, or `precondition` for an app's: that goes with the app's setting. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** To resume takes a test. @throws Failure `absent` or `invalid`. */
  update(caller: Caller, id: string, edit: WebhookEdit): Promise<Change<Webhook>>;
  /** @throws Failure `absent` */
  rotate(tx: Tx, caller: Caller, id: string): Promise<WebhookWithSecret>;
  /** @throws Failure `absent` */
  ping(caller: Caller, id: string): Promise<Change<Sent>>;
}

export function webhooks(parts: WebhookParts): Webhooks {
  const { store, clock, tests, rules } = parts;

  async function resumable(caller: Caller, id: string, { status, doubleHash }: WebhookEdit): Promise<boolean> {
    const webhook = found(await store.webhooks.find(reachOf(caller), id));
    const isTested = status === "active" && webhook.status === "inactive";
    if (isTested) await tests.pass({ ...webhook, doubleHash: doubleHash ?? webhook.doubleHash }, "status");
    return isTested;
  }

  return {
    async create(caller, wanted) {
      const url = readAddress("url", wanted.url, rules);
      const ownSecret = wanted.secret === undefined ? undefined : readWebhookSecret("signing_secret", wanted.secret);
      const eventTypes = wanted.eventTypes.length === 0 ? defaultEventTypes : wanted.eventTypes;
      const { webhook, secret } = newWebhook(parts, { ...caller, clientId: null, url, eventTypes, ownSecret });
      async function test() {
        checkRoom(await store.webhooks.list(caller), url);
        await tests.pass(webhook, "url");
      }
      const tested = await deferred(test());
      return async (tx) => {
        tested();
        await tx.accounts.lock(caller.accountId);
        await holdMember(tx, caller);
        checkRoom(await tx.webhooks.list(caller), url);
        await tx.webhooks.insert(webhook);
        tx.audit.note({ subject: webhook.id, after: auditOf(webhook) });
        return { webhook, secret };
      };
    },

    list: (tx, caller) => tx.webhooks.list(caller),

    async remove(tx, caller, id) {
      const webhook = found(await tx.webhooks.lock(reachOf(caller), id));
      if (webhook.clientId !== null) throw new Failure("precondition", "an app's webhook is removed by clearing the app's webhook_url");
      await tx.webhooks.bury(id, clock.now());
      tx.audit.note({ subject: id, before: auditOf(webhook) });
    },

    async update(caller, id, edit) {
      const resumes = await deferred(resumable(caller, id, edit));
      return async (tx) => {
        const isTested = resumes();
        const before = found(await tx.webhooks.lock(reachOf(caller), id));
        const changes = changesOf(before, edit);
        if (changes.status === "active" && !isTested) throw new Failure("precondition", "the webhook was paused meanwhile, try again");
        await tx.webhooks.update(id, changes);
        // What waited while it was inactive is due.
        if (changes.status === "active") await tx.jobs.put({ kind: "deliver", key: id, runAt: clock.now() });
        const after = { ...before, ...changes };
        tx.audit.note({ subject: id, before: auditOf(before), after: auditOf(after) });
        return after;
      };
    },

    async rotate(tx, caller, id) {
      const before = found(await tx.webhooks.lock(reachOf(caller), id));
      const { sealed, text } = newSecret(parts, id);
      const changes = { secret: sealed, oldSecret: before.secret, oldSecretUntil: clock.now() + overlapMs };
      await tx.webhooks.update(id, changes);
      tx.audit.note({ subject: id, after: { oldSecretUntil: changes.oldSecretUntil } });
      return { webhook: { ...before, ...changes }, secret: text };
    },

    async ping(caller, id) {
      async function ping() {
        return tests.send(found(await store.webhooks.find(reachOf(caller), id)));
      }
      const pinged = await deferred(ping());
      return async (tx) => {
        const sent = pinged();
        tx.audit.note({ subject: id, after: { delivered: sent.delivered } });
        return sent;
      };
    },
  };
}

/** Which webhooks a caller may look at and change: of an app's webhook, whoever may change the app (contract/oauth.md 13). */
export const reachOf = (caller: Caller): WebhookReach => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  ofApps: editsAllApps(caller),
});

/** What is not the caller's is as absent as no webhook. @throws Failure `absent` */
export function found(webhook: Webhook | null): Webhook {
  if (webhook === null) throw absent("webhook");
  return webhook;
}

/** @throws Failure `exists` or `exhausted`. */
function checkRoom(present: readonly Webhook[], url: string): void {
  if (present.some((webhook) => webhook.url === url))
    throw new Failure("exists", "url: a webhook with this address already exists", { path: "url" });
  if (present.length >= webhooksMax) throw new Failure("exhausted", `an account has at most ${webhooksMax} webhooks`);
}

function changesOf(before: Webhook, { status, eventTypes, doubleHash }: WebhookEdit): WebhookChanges {
  const resumed = { status: "active", inactiveReason: null, failingSince: null, failures: 0 } as const;
  const paused = { status: "inactive", inactiveReason: "paused" } as const;
  return {
    ...(status === undefined || status === before.status ? {} : status === "active" ? resumed : paused),
    ...(eventTypes === undefined ? {} : { eventTypes }),
    ...(doubleHash === undefined ? {} : { doubleHash }),
  };
}

/** Never a secret, and of the URL the host only: its path and query may be one (contract/decisions.md 44). */
const auditOf = ({ url, status, eventTypes, doubleHash }: Webhook) => ({
  host: new URL(url).host,
  status,
  eventTypes,
  doubleHash,
});
