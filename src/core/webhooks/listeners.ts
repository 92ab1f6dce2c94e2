import { type Caller, lockActiveMember, type OpenCall } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Subscription, TaskSubscriptions } from "../tasks/task-subscriptions.ts";
import { stopping } from "../tasks/watches.ts";
import type { SignDelivery } from "./delivery.ts";
import { listenerMs, listenersMax, type WaitingEvent, type WebhookListener } from "./listener.ts";
import { keepListener, type Life, type LifeParts, lost } from "./listener-life.ts";
import { newSealedSecret, type WebhookCreationContext } from "./new-webhook.ts";
import { defaultEventTypes, type WebhookEventType } from "./webhook.ts";

export interface ListenerParts extends WebhookCreationContext, LifeParts {
  readonly clock: Clock;
  readonly subscriptions: Pick<TaskSubscriptions, "subscribeToList">;
  readonly sign: SignDelivery;
}

export interface ListenRequest {
  /** Empty: the default types. */
  readonly eventTypes: readonly WebhookEventType[];
  readonly projectId: string | undefined;
}

/** A listener with its secret, returned only once. */
export interface ListenerWithSecret {
  readonly listener: WebhookListener;
  readonly secret: string;
}

/** What a stream sends: the listener first. */
export type ListenMessage =
  | ListenerWithSecret
  | { readonly event: WaitingEvent; readonly headers: Readonly<Record<string, string>> }
  /** Events that were dropped since the listener was created. */
  | { readonly dropped: number };

/**
 * Temporary webhooks of the caller's account, each bound to a stream (spec/api.md 8.94, spec/decisions.md
 * 114).
 */
export interface Listeners {
  /** @throws Failure `not_found` for a project, or `resource_exhausted` at 5. */
  create(tx: Tx, caller: Caller, request: ListenRequest): Promise<ListenerWithSecret>;
  /**
   * The events of a listener as they occur. The listener is removed when the stream or its call ends, also
   * when the stream was never read.
   *
   * @throws Failure from the stream: `unavailable` when the process drains or the listener is lost, and the
   * failures of a new call.
   */
  open(call: OpenCall, created: ListenerWithSecret): AsyncIterable<ListenMessage>;
}

/** Events that are read together. */
const pageSize = 20;

/**
 * What the platform's own signature covers in the place of an address. No webhook can have it: it is not an
 * https URL.
 */
export const signedUrlOf = ({ id }: Pick<WebhookListener, "id">): string => `urn:webhook-listener:${id}`;

export function listeners(parts: ListenerParts): Listeners {
  const { store, clock, subscriptions, draining } = parts;

  async function sign(listener: WebhookListener, event: WaitingEvent): Promise<ListenMessage> {
    const receiver = {
      ...listener,
      url: signedUrlOf(listener),
      oldSecret: null,
      oldSecretUntil: null,
      doubleHash: false,
    };
    return { event, headers: await parts.sign(receiver, event, clock.now()) };
  }

  async function* send(
    created: ListenerWithSecret,
    life: Life,
    subscription: Subscription,
  ): AsyncGenerator<ListenMessage> {
    const { listener } = created;
    const { id } = listener;
    const ended = new Promise<void>((resolve) =>
      life.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    let dropped = 0;
    try {
      yield created;
      while (!life.isOver()) {
        await life.check();
        const state = await store.listeners.state(id);
        if (life.isOver()) return;
        if (!state) throw lost();
        const page = state.waiting > 0 ? await store.listeners.listWaiting(id, pageSize) : [];
        for (const event of page) {
          if (life.isOver()) return;
          // The body of a deleted task's event is no longer kept (spec/decisions.md 14).
          if (event.body !== "") yield await sign(listener, event);
        }
        const last = page.at(-1);
        if (last) await store.change((tx) => tx.listeners.settle(id, last.position));
        if (state.dropped > dropped) {
          dropped = state.dropped;
          yield { dropped };
        }
        if (page.length === 0) await Promise.race([subscription.nextNews(), ended]);
      }
    } finally {
      subscription.close();
      await life.end();
    }
  }

  return {
    async create(tx, caller, { eventTypes: types, projectId = "" }) {
      if (draining.aborted) throw stopping();
      const now = clock.now();
      await tx.accounts.lock(caller.accountId);
      await lockActiveMember(tx, caller);
      if ((await tx.listeners.count(caller.accountId, now)) >= listenersMax)
        throw new Failure(
          "resource_exhausted",
          `an account has at most ${listenersMax} listeners: end another one`,
        );
      if (projectId !== "" && !(await tx.projects.find(caller, projectId)))
        throw notFound("project", "project_id");
      const id = parts.ids.short();
      const { sealed, text } = newSealedSecret(parts, id);
      const listener: WebhookListener = {
        id,
        accountId: caller.accountId,
        spaceId: caller.spaceId,
        eventTypes: types.length === 0 ? defaultEventTypes : types,
        projectId: projectId || null,
        secret: sealed,
        expiresAt: now + listenerMs,
        renewedAt: now,
      };
      await tx.listeners.insert(listener);
      const { eventTypes, expiresAt } = listener;
      tx.audit.note({
        subject: id,
        after: { eventTypes, expiresAt, ...(projectId === "" ? {} : { projectId }) },
      });
      return { listener, secret: text };
    },

    open(call, created) {
      const life = keepListener(parts, call, created.listener);
      return send(created, life, subscriptions.subscribeToList(call, {}));
    },
  };
}
