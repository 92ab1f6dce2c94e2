import type { OpenCall } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, failureOf } from "../failure.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";
import { cancelled, stopping } from "../tasks/watches.ts";
import type { WebhookListener } from "./listener.ts";

/** How often the credential is checked, and how often the listener is renewed: well within its lease. */
const recheckMs = 5_000;
const renewMs = 15_000;

export interface LifeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the process drains. */
  readonly draining: AbortSignal;
}

/** The life of a listener, from its creation to its removal. */
export interface Life {
  /** Aborted when it is over. */
  readonly signal: AbortSignal;
  /** Whether the regular end has come. @throws Failure for any other end. */
  isOver(): boolean;
  /** @throws Failure as a new call, or when the caller is in another space now. */
  check(): Promise<void>;
  /** Resolves when the listener is removed. */
  end(): Promise<void>;
}

export const lost = (): Failure =>
  new Failure("unavailable", "the listener was lost: listen again", { retryAfter: 1 });

/**
 * Renews a listener, and removes it once: at its time, with its call or its credential, or when it is lost.
 * It does not depend on the reader of the stream, who may be slow.
 */
export function keepListener(
  parts: LifeParts,
  call: OpenCall,
  { id, spaceId, expiresAt }: WebhookListener,
): Life {
  const { store, clock, draining } = parts;
  const over = new AbortController();
  let removal: Promise<void> | undefined;
  function end(reason: Failure | null = null): Promise<void> {
    over.abort(reason);
    removal ??= remove(parts, id);
    return removal;
  }

  async function check(): Promise<void> {
    const caller = await call.reauthenticate();
    if (caller.spaceId !== spaceId)
      throw new Failure("failed_precondition", "the session has moved to another space: listen again");
  }

  async function keep(): Promise<void> {
    let renewedAt = clock.monotonic();
    for (;;) {
      await clock.sleep(Math.min(recheckMs, expiresAt - clock.now()), over.signal);
      if (clock.now() >= expiresAt) return end();
      await check();
      if (clock.monotonic() - renewedAt < renewMs) continue;
      if (!(await store.change((tx) => tx.listeners.renew(id, clock.now())))) throw lost();
      renewedAt = clock.monotonic();
    }
  }

  // When it is over, the sleep rejects too.
  keep().catch((thrown: unknown) => void end(failureOf(thrown)));
  call.gone.addEventListener("abort", () => void end(cancelled()), { once: true });
  if (call.gone.aborted) void end(cancelled());
  return {
    signal: over.signal,
    isOver() {
      if (over.signal.aborted && over.signal.reason !== null) throw over.signal.reason;
      if (over.signal.aborted || clock.now() >= expiresAt) return true;
      if (draining.aborted) throw stopping();
      return false;
    },
    check,
    end,
  };
}

const remove = ({ store, log }: LifeParts, id: string): Promise<void> =>
  store
    .change((tx) => tx.listeners.remove(id))
    .catch((cause: unknown) => log("error", "a listener was not removed: it ends with its lease", { cause }));
